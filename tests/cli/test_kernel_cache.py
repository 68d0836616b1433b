"""Cached kernels are code: files that other users may have written are not loaded."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wfacli.gpu.compile.cache import read, sealed
from wfacli.gpu.kernels import catalogue

from .support import Result

Kernels = Callable[..., tuple[Result, int]]
FEW = 4  # rows of the catalogue that are compiled, of different sources
NVCC = """#!/bin/sh
case "$*" in *--version*) echo "release 13.0, V13.0.88"; exit;; esac
echo run >> {log}
while [ "$1" != "-o" ]; do shift; done
echo compiled > "$2"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an nvcc that counts its runs, and space for the cache."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(NVCC.format(log=tmp_path / "log"))
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    return tmp_path


@pytest.fixture
def kernels(folder: Path, inside: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Kernels:
    """A function that runs `wfacli kernels` with few rows; returns its result, and the number of compilations."""
    by_source = {row.source: row for row in catalogue.ROWS.values()}
    monkeypatch.setattr(catalogue, "ROWS", {row.name: row for row in list(by_source.values())[:FEW]})
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("WFACLI_CACHE_DIR", str(folder / "cache"))
    log = folder / "log"

    def call() -> tuple[Result, int]:
        log.unlink(missing_ok=True)
        result = inside("kernels", "--arch", "compute_100", "--into", "made", cwd=folder)
        return result, len(log.read_text().splitlines()) if log.exists() else 0

    return call


def forge(folder: Path) -> None:
    """Replace the content of all cached files by other content with a correct hash."""
    for path in (folder / "cache").glob("*.ptx"):
        path.write_bytes(sealed(b"forged"))


def made(folder: Path) -> set[bytes | None]:
    return {read(path) for path in (folder / "made").iterdir()}


def test_a_cache_of_ones_own_is_used(folder: Path, kernels: Kernels) -> None:
    result, compiled = kernels()
    assert (result.code, result.err, compiled) == (0, "", FEW)
    assert (folder / "cache").stat().st_mode & 0o077 == 0
    assert kernels()[1] == 0
    assert made(folder) == {b"compiled\n"}


@pytest.mark.parametrize("way", ["others write", "others write above", "another user's", "a group writes"])
def test_a_cache_of_others_is_not(folder: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way in ("another user's", "a group writes") and os.geteuid() != 0:
        pytest.skip("only the superuser can give a folder away")
    kernels()
    forge(folder)
    cache = folder / "cache"
    if way == "others write":
        cache.chmod(0o777)
    elif way == "others write above":
        folder.chmod(0o777)
    elif way == "another user's":
        os.chown(cache, 12345, 12345)
    else:
        os.chown(cache, 0, 12345)
        cache.chmod(0o770)
    before = {path.name: path.read_bytes() for path in cache.glob("*.ptx")}
    result, compiled = kernels()
    assert result.code == 0 and compiled == FEW, result.err
    assert made(folder) == {b"compiled\n"}
    assert result.err.count("wfacli: warning: the cache ") == 1 and "WFACLI_TRUST_CACHE=1" in result.err
    assert {path.name: path.read_bytes() for path in cache.glob("*.ptx")} == before
    monkeypatch.setenv("WFACLI_TRUST_CACHE", "1")
    trusted, compiled = kernels()
    assert (trusted.code, trusted.err, compiled) == (0, "", 0)
    assert made(folder) == {b"forged"}


@pytest.mark.parametrize("way", ["link", "another user's", "others write"])
def test_files_of_others_are_not(folder: Path, kernels: Kernels, way: str) -> None:
    if way == "another user's" and os.geteuid() != 0:
        pytest.skip("only the superuser can give a file away")
    kernels()
    forge(folder)
    for path in (folder / "cache").glob("*.ptx"):
        if way == "link":
            path.rename(folder / path.name)
            path.symlink_to(folder / path.name)
        elif way == "another user's":
            os.chown(path, 12345, 12345)
        else:
            path.chmod(0o666)
    result, compiled = kernels()
    assert result.code == 0 and compiled == FEW
    assert made(folder) == {b"compiled\n"}
    if way == "link":
        assert {read(path) for path in folder.glob("*.ptx")} == {b"forged"}


@pytest.fixture
def full(folder: Path) -> Iterator[Path]:
    """A cache in a file system with space for a kernel or two."""
    (folder / "cache").mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=8k,mode=0700", "none", str(folder / "cache")]
    if os.geteuid() != 0 or subprocess.run(mounted, check=False, capture_output=True).returncode:
        pytest.skip("only the superuser can mount a file system")
    yield folder
    subprocess.run(["umount", str(folder / "cache")], check=True)


def test_a_full_cache_is_a_warning(full: Path, kernels: Kernels) -> None:
    result, compiled = kernels()
    assert result.code == 0 and compiled == FEW, result.err
    assert result.err.count("wfacli: warning: cannot write to the cache") == 1 and "No space left" in result.err
    assert made(full) == {b"compiled\n"}
    assert not list((full / "cache").glob(".new-*")), "a part of a kernel"
