"""The package of kernels: its wheel is installed by pip, and wfacli takes machine code from it, by a fake nvcc."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import replace
from email import message_from_bytes
from pathlib import Path

import pytest

import wfacli
from tests.gpu_host.fake_nvcc import FakeNvcc
from wfacli.cli.doctor import _kernels
from wfacli.errors import DeviceError
from wfacli.gpu.compile import compiler as compiling
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import SHIPPED, Compiler, shipped_folders
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.runtime import presence

from .scripts import load

kernels = load("kernels")
ROW = Row("row", "row.cu", "entry", (("CAP", 32),), 64, hot=False)
ARCHITECTURES = ("sm_80", "sm_90", "compute_100")


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    """A compiler with the fake nvcc and sources of its own."""
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "row.cu").write_text("// a kernel\n")
    cache = Cache(tmp_path / "cache")
    return Compiler(cache, FakeNvcc(tmp_path).path, tmp_path / "cuda", tmp_path / "nothing")


@pytest.fixture
def installed(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The wheel, installed into a folder where modules are looked for."""
    wheel = kernels.make(compiler, [ROW], ARCHITECTURES, tmp_path / "dist")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        tmp_path / "site",
        wheel,
    ]
    subprocess.run([*map(str, pip)], check=True, capture_output=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


def test_wfacli_finds_the_kernels_before_it_compiles(installed: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(compiling, "find_nvcc", lambda: None)
    assert shipped_folders() == (SHIPPED, installed / "wfacli_kernels" / "cubins")
    without = Compiler(Cache(tmp_path / "empty"), folder=tmp_path / "cuda")
    assert b"sm_90" in without.image(ROW, "sm_90") and b"sm_80" in without.image(ROW, "sm_89")
    assert b"-arch=compute_100" in without.image(ROW, "sm_120")
    assert not (tmp_path / "empty").exists()
    (tmp_path / "cuda" / "row.cu").write_text("// of another version\n")
    changed = Compiler(Cache(tmp_path / "empty"), folder=tmp_path / "cuda")
    with pytest.raises(DeviceError, match=r"no machine code for GPU kernel row on sm_90.*install wfacli-kernels"):
        changed.image(ROW, "sm_90")


def test_with_kernels_a_gpu_is_looked_for(installed: Path, tmp_path: Path, monkeypatch) -> None:
    device = tmp_path / "nvidiactl"
    monkeypatch.setattr(presence, "_DEVICES", (device,))
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.delitem(sys.modules, "pycuda")
    monkeypatch.setattr(presence.importlib.util, "find_spec", _without_pycuda(presence.importlib.util.find_spec))
    monkeypatch.setattr(compiling, "find_nvcc", lambda: None)
    monkeypatch.setenv("WFACLI_CACHE_DIR", str(tmp_path / "empty"))
    assert not presence.may_have_gpu()
    device.touch()
    assert presence.may_have_gpu()
    monkeypatch.setattr(compiling, "shipped_folders", lambda: (tmp_path / "nothing",))
    assert not presence.may_have_gpu()


def _without_pycuda(find_spec):
    return lambda name, *rest: None if name == "pycuda" else find_spec(name, *rest)


def test_the_wheel_is_of_this_version_alone(compiler: Compiler, tmp_path: Path) -> None:
    first = kernels.make(compiler, [ROW], ARCHITECTURES, tmp_path / "1")
    second = kernels.make(compiler, [ROW], ARCHITECTURES, tmp_path / "2")
    assert first.read_bytes() == second.read_bytes()
    assert first.name == f"wfacli_kernels-{wfacli.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(first) as wheel:
        information = f"wfacli_kernels-{wfacli.__version__}.dist-info"
        metadata = message_from_bytes(wheel.read(f"{information}/METADATA"))
        assert metadata["Requires-Dist"] == f"wfacli=={wfacli.__version__}" and "nvcc" in metadata.get_payload()
        assert len([name for name in wheel.namelist() if "/cubins/" in name]) == len(ARCHITECTURES)
        assert f"{information}/licenses/LICENSE" in wheel.namelist()


def test_without_nvcc_or_with_spilled_registers_there_is_no_wheel(compiler: Compiler, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="row leaves its registers on sm_90"):
        kernels.make(compiler, [replace(ROW, hot=True)], ["sm_90"], tmp_path / "dist")
    compiler.nvcc = None
    with pytest.raises(DeviceError, match="needs nvcc"):
        kernels.make(compiler, [ROW], ["sm_90"], tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_doctor_says_of_kernels_for_another_version() -> None:
    assert _kernels(None, "0.1.0") == "none" and _kernels("0.1.0", "0.1.0") == "0.1.0"
    assert _kernels("0.0.9", "0.1.0") == "0.0.9, which is not used: pip install wfacli-kernels==0.1.0"
