"""The check of what wheels and source distributions contain finds each thing that can be missing."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

import wfacli

from . import shipped

INFORMATION = f"wfacli-{wfacli.__version__}.dist-info"
METADATA = "".join(
    ["Name: wfacli\n", f"Version: {wfacli.__version__}\n", "License-Expression: MIT\n"]
    + [f"License-File: {licence}\n" for licence in shipped.LICENCES]
)


def bill(version: str = wfacli.__version__, names: tuple[str, ...] = shipped.CONTAINED) -> str:
    parts = [{"name": name, "version": "1", "licenses": [{"license": {"id": "MIT"}}]} for name in names]
    return json.dumps({"metadata": {"component": {"version": version}}, "components": parts})


def contents() -> dict[str, str]:
    return {
        "wfacli/__init__.py": "",
        "wfacli/_native.abi3.so": "",
        "wfacli/cuda/x.cu": "",
        f"{INFORMATION}/METADATA": METADATA,
        f"{INFORMATION}/sboms/wfacli.cdx.json": bill(),
        **{f"{INFORMATION}/licenses/{licence}": "" for licence in shipped.LICENCES},
    }


def wheel(folder: Path, files: dict[str, str]) -> Path:
    path = folder / f"wfacli-{wfacli.__version__}-cp312-abi3-any.whl"
    with zipfile.ZipFile(path, "w") as written:
        for name, content in files.items():
            written.writestr(name, content)
    return path


def source(folder: Path, names: tuple[str, ...]) -> Path:
    path = folder / f"wfacli-{wfacli.__version__}.tar.gz"
    with tarfile.open(path, "w:gz") as written:
        for name in names:
            written.addfile(tarfile.TarInfo(f"wfacli-{wfacli.__version__}/{name}"), io.BytesIO())
    return path


def test_what_is_right_has_no_faults(tmp_path: Path) -> None:
    wheel(tmp_path, contents())
    source(tmp_path, shipped.LICENCES + shipped.SOURCES)
    assert list(shipped.faults(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (f"{INFORMATION}/METADATA", METADATA.replace("Version: ", "Version: 9"), "its version is 9"),
        (f"{INFORMATION}/METADATA", METADATA.replace("MIT", "GPL"), "its licence is GPL"),
        (f"{INFORMATION}/METADATA", METADATA.replace("File: LICENSE", "File: x"), "LICENSE is missing"),
        (f"{INFORMATION}/licenses/{shipped.LICENCES[1]}", None, "nanobind.txt is missing"),
        ("wfacli/_native.abi3.so", None, "native modules"),
        ("wfacli/_native.cpython-311.so", "", "native modules"),
        ("wfacli/cuda/x.cu", None, "GPU kernels are missing"),
        ("wfacli/native/x.cpp", "", "more than the package: wfacli/native"),
        ("tests/x.py", "", "more than the package: tests"),
        (f"{INFORMATION}/sboms/wfacli.cdx.json", None, "no SBOM"),
        (f"{INFORMATION}/sboms/wfacli.cdx.json", bill("9"), "SBOM is of another version"),
        (f"{INFORMATION}/sboms/wfacli.cdx.json", bill(names=("nanobind",)), "SBOM lists nanobind"),
        (f"{INFORMATION}/sboms/wfacli.cdx.json", bill(names=("robin-map",)), "no version of nanobind"),
    ],
)
def test_faults_of_wheels(tmp_path: Path, name: str, content: str | None, fault: str) -> None:
    files = contents()
    files.pop(name, None)
    if content is not None:
        files[name] = content
    assert any(fault in found for found in shipped.faults_of_wheel(wheel(tmp_path, files)))


def test_faults_of_source_distributions(tmp_path: Path) -> None:
    whole = shipped.LICENCES + shipped.SOURCES
    assert list(shipped.faults_of_source(source(tmp_path, whole[1:]))) == [f"{whole[0]} is missing"]
    assert list(shipped.faults_of_source(source(tmp_path, (*whole, "dist/x.whl")))) == ["it has dist/x.whl"]


def test_an_empty_folder_is_a_fault(tmp_path: Path) -> None:
    assert list(shipped.faults(tmp_path)) == [f"{tmp_path} has 0 wheels and 0 source distributions"]
