"""Check what is in the wheels and the source distribution of a folder: files, licences, SBOM, version.

python -m tests.release.shipped [--dist dist]
"""

from __future__ import annotations

import argparse
import email
import json
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT

from .installed import version

LICENCES = ("LICENSE", "packaging/licenses/nanobind.txt", "packaging/licenses/robin-map.txt")
CONTAINED = ("nanobind", "robin-map", "libstdc++")
SOURCES = (
    "CMakeLists.txt",
    "pyproject.toml",
    "packaging/glibc/stubs.py",
    "packaging/sbom.cdx.json.in",
    "wfacli/__init__.py",
)
_LARGEST = 8 << 20  # bytes of a wheel without kernels


def faults_of_wheel(path: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        information = next(name for name in names if name.endswith(".dist-info/METADATA")).removesuffix("METADATA")
        metadata = email.message_from_bytes(wheel.read(information + "METADATA"))
        if metadata["Version"] != version():
            yield f"its version is {metadata['Version']}"
        if metadata["License-Expression"] != "MIT":
            yield f"its licence is {metadata['License-Expression']}"
        for licence in LICENCES:
            if f"{information}licenses/{licence}" not in names or licence not in metadata.get_all("License-File", []):
                yield f"{licence} is missing"
        modules = [name for name in names if name.startswith("wfacli/_native.") and name.endswith(".so")]
        if len(modules) != 1:
            yield f"native modules: {modules}"
        if not any(name.startswith("wfacli/cuda/") for name in names):
            yield "the sources of the GPU kernels are missing"
        strange = {name.split("/")[0] for name in names} - {"wfacli", information.rstrip("/")}
        if strange or any(name.startswith("wfacli/native/") for name in names):
            yield f"it has more than the package: {', '.join(sorted(strange)) or 'wfacli/native'}"
        try:
            bill = json.loads(wheel.read(f"{information}sboms/wfacli.cdx.json"))
        except KeyError:
            yield "it has no SBOM"
            return
        if bill["metadata"]["component"]["version"] != version():
            yield "its SBOM is of another version"
        parts = {part["name"]: part for part in bill["components"]}
        if set(parts) != set(CONTAINED) or not all(part["licenses"] for part in parts.values()):
            yield f"its SBOM lists {', '.join(sorted(parts))}"
        if not parts.get("nanobind", {}).get("version"):
            yield "its SBOM has no version of nanobind"
    if path.stat().st_size > _LARGEST:
        yield f"it has {path.stat().st_size:,} bytes"


def faults_of_source(path: Path) -> Iterator[str]:
    """Yield what is wrong with a source distribution."""
    with tarfile.open(path) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for needed in (*LICENCES, *SOURCES):
        if needed not in names:
            yield f"{needed} is missing"
    for name in sorted(names):
        if name.startswith((".venv", "build/", "dist/", ".github", "packaging/bioconda")):
            yield f"it has {name}"
            return


def faults(dist: Path) -> Iterator[str]:
    """Yield what is wrong with the distributions in a folder."""
    wheels, sources = sorted(dist.glob("wfacli-*.whl")), sorted(dist.glob("wfacli-*.tar.gz"))
    if not wheels or len(sources) != 1:
        yield f"{dist} has {len(wheels)} wheels and {len(sources)} source distributions"
    for path in wheels:
        yield from (f"{path.name}: {fault}" for fault in faults_of_wheel(path))
    for path in sources:
        yield from (f"{path.name}: {fault}" for fault in faults_of_source(path))
    if f"## {version()}" not in (ROOT / "CHANGELOG.md").read_text():
        yield f"CHANGELOG.md has no part about {version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    found = list(faults(parser.parse_args().dist))
    if found:
        sys.exit("\n".join(f"shipped.py: {fault}" for fault in found))
    print("licences, SBOM and version of what is shipped are right")


if __name__ == "__main__":
    main()
