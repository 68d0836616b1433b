"""Make the source distribution, and wheels of it for this kind of processor: `make wheels`.

    python packaging/wheels.py [--python python3.11 --python python3.12] [--glibc 2.28] [--into dist] [--check]
                               [--cross aarch64-linux-gnu-]

CPython 3.11 makes a wheel for itself, 3.12 one for the stable ABI, which every later version accepts. Wheels are
linked for an old glibc (packaging/glibc), and auditwheel must agree. --check builds all again elsewhere and compares
the bytes, which depend on the sources, the compiler and packaging/constraints.txt alone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
PYTHONS = ("python3.11", "python3.12")
_TAG = re.compile(r"(?:manylinux|musllinux)_(\d+)_(\d+)_\w+")


class Failed(Exception):
    """A wheel cannot be made; the message says why."""


def environment(epoch: str | None = None) -> dict[str, str]:
    """Return the environment of a build: times of files are those of the last commit, and versions are pinned."""
    given = epoch or os.environ.get("SOURCE_DATE_EPOCH") or _last_commit()
    pinned = {name: str(CONSTRAINTS) for name in ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")}
    return {**os.environ, **pinned, "SOURCE_DATE_EPOCH": given, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def _last_commit() -> str:
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or str(int((ROOT / "pyproject.toml").stat().st_mtime))


def _run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output. Raises Failed with the end of what it printed."""
    done = subprocess.run(
        [*map(str, command)], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
    return done.stdout


def source_distribution(into: Path) -> Path:
    """Make the source distribution of this checkout in a folder, and return its path."""
    _run([sys.executable, "-m", "build", "--sdist", "--outdir", into, ROOT], environment())
    return next(into.glob("wfacli-*.tar.gz"))


def crossing(prefix: str, python: str) -> dict[str, str]:
    """Return what a build's environment needs to compile for another processor, by the prefix of its compiler."""
    processor = prefix.partition("-")[0]
    version = _run([python, "-c", "import sys; print('%d%d' % sys.version_info[:2])"]).strip()
    return {
        "CXX": f"{prefix}g++",
        "CMAKE_ARGS": f"-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={processor}",
        # What scikit-build-core and nanobind would read from an interpreter of that processor.
        "_PYTHON_HOST_PLATFORM": f"linux-{processor}",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{version}-{processor}-linux-gnu.so",
    }


def linked(source: Path, python: str, glibc: str, into: Path, cross: str = "") -> Path:
    """Build a wheel of a source distribution with an interpreter, for an old glibc; return its path."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wfacli-wheel-") as made:
        with tarfile.open(source) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11 has it from 3.11.4 on
            packed.extractall(made)
        folder = next(Path(made).iterdir())
        # Without them, a unit that includes too little fails.
        options = ["--config-settings=cmake.define.CMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
        options += [f"--config-settings=cmake.define.WFACLI_GLIBC={glibc}"] if glibc else []
        command = [python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-cache-dir", "--wheel-dir", into, *options]
        before = set(into.iterdir())
        _run([*command, folder], environment() | (crossing(cross, python) if cross else {}))
        return (set(into.iterdir()) - before).pop()


def tag_of(verdict: str) -> str:
    """Return the platform tag that `auditwheel show` found a wheel to be consistent with. Raises Failed."""
    found = re.search(r'platform tag:\s*"([^"]+)"', verdict.replace("\n", " "))
    if not found or not _TAG.fullmatch(found[1]):
        raise Failed(f"auditwheel finds the wheel fit for no policy:\n{verdict}")
    return found[1]


def audited(wheel: Path, glibc: str, into: Path) -> tuple[Path, str]:
    """Name a wheel by what auditwheel finds that it needs.

    Returns:
        Path of the renamed wheel, and auditwheel's verdict, a platform tag.

    Raises:
        Failed: it needs a newer glibc than `glibc`, or libraries of this machine.
    """
    folder = Path(sys.executable).parent
    path = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    tag = tag_of(_run([sys.executable, "-m", "auditwheel", "show", wheel], environment() | path))
    major, minor = _TAG.fullmatch(tag).groups()  # type: ignore[union-attr]
    if glibc and (int(major), int(minor)) > tuple(map(int, glibc.split("."))):
        raise Failed(f"{wheel.name} needs {tag}, newer than glibc {glibc}")
    before = set(into.glob("*.whl"))
    command = [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "--wheel-dir", into, wheel]
    _run(command, environment() | path)
    return (set(into.glob("*.whl")) - before).pop(), tag


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(pythons: Sequence[str], glibc: str, into: Path, cross: str = "") -> dict[Path, str]:
    """Make the source distribution and the wheels in a folder; return the verdict about each file."""
    into.mkdir(parents=True, exist_ok=True)
    for old in [*into.glob("wfacli-*.whl"), *into.glob("wfacli-*.tar.gz")]:
        old.unlink()
    source = source_distribution(into)
    made = {source: "source"}
    for python in pythons:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="wfacli-linked-") as folder:
            wheel, verdict = audited(linked(source, python, glibc, Path(folder), cross), glibc, into)
        made[wheel] = verdict
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {verdict}, {time.monotonic() - begun:.0f} s", flush=True)
    return made


def differing(first: Path, second: Path) -> list[str]:
    """Return the names of distributions that are not in both folders with the same bytes."""
    names = {path.name for folder in (first, second) for path in folder.glob("wfacli-*")}
    return sorted(
        name
        for name in names
        if not all((folder / name).exists() for folder in (first, second))
        or sha256(first / name) != sha256(second / name)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", action="append", help="an interpreter; the default is each of 3.11 and 3.12 there")
    parser.add_argument("--glibc", default="2.28", help="the oldest glibc to run on; empty: this machine's")
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--check", action="store_true", help="build again, and compare")
    parser.add_argument("--cross", default="", help="prefix of a cross compiler, as aarch64-linux-gnu-")
    chosen = parser.parse_args()
    pythons = chosen.python or [python for python in PYTHONS if shutil.which(python)]
    if not pythons:
        sys.exit(f"wheels.py: there is none of {', '.join(PYTHONS)}: name one by --python")
    try:
        made = make(pythons, chosen.glibc, chosen.into, chosen.cross)
        for path in made:
            print(f"{sha256(path)}  {path.name}")
        if chosen.check:
            with tempfile.TemporaryDirectory(prefix="wfacli-again-") as again:
                make(pythons, chosen.glibc, Path(again), chosen.cross)
                if different := differing(chosen.into, Path(again)):
                    raise Failed(f"two builds differ in {', '.join(different)}")
            print("two builds gave the same bytes")
    except Failed as problem:
        sys.exit(f"wheels.py: {problem}")


if __name__ == "__main__":
    main()
