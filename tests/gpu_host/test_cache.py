"""Compiled kernels: compiled, cached or packaged ones, and errors if none is available."""

from __future__ import annotations

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.emulation.compiled import ROOT
from wfacli.errors import DeviceError
from wfacli.gpu.compile import cache as caches
from wfacli.gpu.compile.cache import Cache, CacheWarning, default_folder, read
from wfacli.gpu.compile.compiler import Compiler, Usage, find_nvcc
from wfacli.gpu.compile.package import build_rows, report
from wfacli.gpu.compile.sources import included_files
from wfacli.gpu.kernels.catalogue import Row, table

from .fake_nvcc import FakeNvcc

ROW = Row("row", "row.cu", "entry", (("CAP", 32),), 64)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "cuda"
    (folder / "common").mkdir(parents=True)
    (folder / "row.cu").write_text('#include "common/a.cuh"\n#include <cstdint>\n#include "not/there.cuh"\n')
    (folder / "common/a.cuh").write_text('  #  include "b.cuh"\n#include "common/c.cuh"\n')
    (folder / "common/b.cuh").write_text('#include "a.cuh"\n')
    (folder / "common/c.cuh").write_text("// c\n")
    (folder / "common/unused.cuh").write_text("// d\n")
    return folder


@pytest.fixture
def make(tmp_path: Path, sources: Path):
    """A function that creates a compiler with its own cache and the fake nvcc."""

    def make_compiler(nvcc: FakeNvcc | None = None, **options) -> Compiler:
        options.setdefault("cache", Cache(tmp_path / "cache"))
        tool = (nvcc or FakeNvcc(tmp_path)).path
        return Compiler(**{"nvcc": tool, "folder": sources, "shipped": tmp_path / "shipped"} | options)

    return make_compiler


def runs(tmp_path: Path) -> int:
    return FakeNvcc(tmp_path).runs


def test_includes_are_followed(sources):
    names = [path.relative_to(sources).as_posix() for path in included_files(sources / "row.cu", sources)]
    assert names == ["common/a.cuh", "common/b.cuh", "common/c.cuh", "row.cu"]


def test_a_row_is_compiled_once(make, tmp_path):
    told = []
    image = make(progress=lambda *each: told.append(each)).image(ROW, "sm_90")
    assert image == b"-cubin -arch=sm_90 -DWFACLI_BLOCK=64 -DCAP=32"
    assert [each[:2] for each in told] == [("row", "sm_90")] * 2
    assert told[0][2] is None
    assert told[1][2] > 0
    assert make().image(ROW, "sm_90") == image
    assert runs(tmp_path) == 1


CHANGES = {
    "include": lambda folder: (folder / "common/c.cuh").write_text("// changed\n"),
    "source": lambda folder: (folder / "row.cu").write_text('#include "common/c.cuh"\n'),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_sources_are_compiled_again(make, sources, tmp_path, change):
    make().image(ROW, "sm_90")
    CHANGES[change](sources)
    make().image(ROW, "sm_90")
    assert runs(tmp_path) == 2


def test_only_what_matters_is_compiled_again(make, sources, tmp_path):
    make().image(ROW, "sm_90")
    (sources / "common/unused.cuh").write_text("// changed\n")
    make().image(Row("again", "row.cu", "other", (("CAP", 32),), 64, hot=False, measured="long ago"), "sm_90")
    assert runs(tmp_path) == 1
    for other in (
        Row("row", "row.cu", "entry", (("CAP", 64),), 64),
        Row("row", "row.cu", "entry", (("CAP", 32),), 128),
    ):
        make().image(other, "sm_90")
    make().image(ROW, "sm_80")
    make(FakeNvcc(tmp_path, version="13.1")).image(ROW, "sm_90")
    assert runs(tmp_path) == 5


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_damaged_files_are_made_again(make, tmp_path, damage):
    image = make().image(ROW, "sm_90")
    (file,) = (tmp_path / "cache").glob("*.cubin")
    whole = file.read_bytes()
    file.write_bytes(b"?" + whole[1:] if damage is None else damage)
    assert make().image(ROW, "sm_90") == image
    assert file.read_bytes() == whole
    assert runs(tmp_path) == 2


def test_processes_that_need_the_same_row_compile_it_once(sources, tmp_path):
    nvcc = FakeNvcc(tmp_path, seconds=0.3)
    code = f"""
from pathlib import Path
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.kernels.catalogue import Row
folder = Path({str(tmp_path)!r})
compiler = Compiler(Cache(folder / "cache"), folder / {nvcc.path.name!r}, folder / "cuda")
print(compiler.image({ROW!r}, "sm_90").decode(), compiler.usage({ROW!r}, "sm_90").registers)
"""
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)]
    assert {process.communicate()[0] for process in processes} == {
        "-cubin -arch=sm_90 -DWFACLI_BLOCK=64 -DCAP=32 40\n"
    }
    assert nvcc.runs == 1


def test_threads_that_need_the_same_row_compile_it_once(make, tmp_path):
    compiler = make(FakeNvcc(tmp_path, seconds=0.1))
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: compiler.image(ROW, "sm_90"), range(8)))) == 1
    assert runs(tmp_path) == 1


@pytest.mark.parametrize("obstacle", ["file", "full", "locks"])
def test_a_cache_that_cannot_be_written_is_no_obstacle(make, tmp_path, monkeypatch, obstacle):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    if obstacle == "file":
        (tmp_path / "cache").write_text("where the folder should be")
    elif obstacle == "locks":
        monkeypatch.setattr(caches.fcntl, "flock", refuse)
    else:
        write = caches._write
        monkeypatch.setattr(caches, "_write", lambda p, c: refuse() if "cache" in p.parts else write(p, c))
    compiler = make()
    with pytest.warns(CacheWarning, match="cannot write to the cache") as warned:
        image = compiler.image(ROW, "sm_90")
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiler.image(ROW, "sm_90") == image
        assert compiler.usage(ROW, "sm_90").registers == 40
    assert runs(tmp_path) == 1


def test_no_room_anywhere_is_no_obstacle(make, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caches, "_write", refuse)
    monkeypatch.setattr(caches, "tempfile", SimpleNamespace(TemporaryDirectory=refuse))
    with pytest.warns(CacheWarning, match="cannot write to the cache") as warned:
        assert make().image(ROW, "sm_90")
    assert len(warned) == 1


def test_what_the_package_has_is_taken_first(make, tmp_path):
    shipped = tmp_path / "shipped"
    built = list(build_rows(make(), [ROW], ["sm_80", "sm_90", "compute_100"], 2, shipped))
    assert [one.usage and one.usage.registers for one in built] == [40, 40, None]
    assert all(read(file) for file in shipped.iterdir())
    compiled = runs(tmp_path)
    bare = make(nvcc=None, cache=Cache(tmp_path / "empty"))
    bare.nvcc = None
    assert b"sm_90" in bare.image(ROW, "sm_90")
    assert b"sm_80" in bare.image(ROW, "sm_86")
    assert b"-ptx -arch=compute_100" in bare.image(ROW, "sm_120")
    assert runs(tmp_path) == compiled
    with pytest.raises(DeviceError, match=r"no machine code for GPU kernel other on sm_90, and no nvcc.*CUDA_HOME"):
        bare.image(Row("other", "row.cu", "entry", (), 64), "sm_90")
    with pytest.raises(DeviceError, match="nvcc"):
        bare.usage(ROW, "sm_90")


def test_without_nvcc_the_cache_still_serves(make):
    compiler = make()
    image = compiler.image(ROW, "sm_90")
    compiler.nvcc = None
    assert compiler.image(ROW, "sm_90") == image


def test_compilers_errors_are_told_in_a_line(make, sources):
    (sources / "row.cu").write_text("broken")
    with pytest.raises(
        DeviceError, match=r"nvcc cannot compile GPU kernel row for sm_90: kernel.cu\(3\): error: broken$"
    ):
        make().image(ROW, "sm_90")


def test_usage_is_the_entrys_own(make, tmp_path):
    assert make().usage(ROW, "sm_90") == Usage(registers=40, shared=512, stack=16, spills=4)
    for file in (tmp_path / "cache").glob("*.txt"):
        file.unlink()
    assert make().usage(ROW, "sm_90").registers == 40


def test_hot_rows_that_leave_their_registers_are_marked(make):
    cold = Row("cold", "row.cu", "entry", (), 64, hot=False)
    known = Row("known", "row.cu", "entry", (), 64, spills_on=("sm_90",))
    built = list(build_rows(make(), [ROW, cold, known], ["sm_90", "sm_80", "compute_100"]))
    marked = [(one.row.name, one.arch) for one in built if one.too_large]
    assert marked == [(ROW.name, "sm_90"), (ROW.name, "sm_80"), ("known", "sm_80")]
    lines = list(report(one for one in built if one.arch == "sm_90"))
    assert lines[0].split()[:3] == ["row", "arch", "registers"]
    assert lines[1].split() == ["row", "sm_90", "40", "512", "16", "4", "45", "*"]
    assert [line.split()[-1] for line in lines[2:]] == ["36", "36"]  # bytes; not followed by a star


def test_nvcc_is_found(tmp_path):
    for place in ("one", "two/bin", "three/bin", "four", "five/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "nvcc").write_text("")
        (tmp_path / place / "nvcc").chmod(0o755)
    environment = {
        "CUDACXX": str(tmp_path / "one/nvcc"),
        "CUDA_HOME": str(tmp_path / "two"),
        "CUDA_PATH": str(tmp_path / "three"),
        "PATH": str(tmp_path / "four"),
    }
    for name, place in zip(list(environment), ("one", "two/bin", "three/bin", "four"), strict=True):
        assert find_nvcc(environment, tmp_path / "five") == tmp_path / place / "nvcc"
        del environment[name]
    assert find_nvcc(environment, tmp_path / "five") == tmp_path / "five/bin/nvcc"
    assert find_nvcc(environment, tmp_path / "six") is None


def test_where_the_cache_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("WFACLI_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert default_folder() == tmp_path / ".cache/wfacli"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == tmp_path / "xdg/wfacli"
    monkeypatch.setenv("WFACLI_CACHE_DIR", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"


def test_rows_have_names_of_their_own():
    with pytest.raises(ValueError, match="row"):
        table([ROW, ROW])


def test_nothing_is_left_behind(make, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.warns(CacheWarning):
        make().image(ROW, "sm_90")
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"]
