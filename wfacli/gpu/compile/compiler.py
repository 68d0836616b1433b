"""Machine code of catalogue rows: shipped with the package, from the cache, or compiled by nvcc.

PyCUDA's SourceModule is not used: it runs the preprocessor on every load of a source with includes, even if cached.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...errors import DeviceError
from ..kernels.catalogue import Row
from ..kernels.occupancy import capability
from . import sources
from .cache import Cache, read

OLDEST = "sm_80"  # the kernels need its warp-level reductions
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")  # architectures whose machine code packages ship
NEWEST_PTX = "compute_100"  # shipped as well; drivers compile it for newer GPUs
SHIPPED = Path(__file__).parents[2] / "cubins"
KERNELS_PACKAGE = "wfacli_kernels"  # a package of its own with nothing but machine code (packaging/kernels.py)
OPTIONS = ("-std=c++20", "-O3", "-Xptxas", "-v")
GET_NVCC = "install the CUDA toolkit (conda-forge: cuda-nvcc) and set CUDA_HOME, or put nvcc on PATH"
_TOOLKIT = Path("/usr/local/cuda")

# Called with a row's name, its architecture, and None when compilation starts or the seconds it took when it ends.
Progress = Callable[[str, str, float | None], None]


@dataclass(frozen=True)
class Usage:
    """Resources of a kernel, from the assembler's report; bytes per thread, except `shared`, which is per block."""

    registers: int
    shared: int
    stack: int
    spills: int


def find_nvcc(environment: Mapping[str, str] = os.environ, toolkit: Path = _TOOLKIT) -> Path | None:
    """Return the first nvcc found in $CUDACXX, $CUDA_HOME, $CUDA_PATH, PATH, /usr/local/cuda."""
    requested = environment.get("CUDACXX")
    homes = [Path(environment[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    on_path = shutil.which("nvcc", path=environment.get("PATH", ""))
    candidates = [
        *([Path(found)] if requested and (found := shutil.which(requested, path=environment.get("PATH", ""))) else []),
        *(home / "bin" / "nvcc" for home in homes),
        *([Path(on_path)] if on_path else []),
        toolkit / "bin" / "nvcc",
    ]
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def shipped_folders() -> tuple[Path, ...]:
    """Return the folders of machine code that are installed: this package's, and that of the package of kernels."""
    spec = importlib.util.find_spec(KERNELS_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return (SHIPPED, *(Path(place) / "cubins" for place in places or ()))


@lru_cache
def nvcc_version(nvcc: Path) -> str:
    """Return the version of nvcc, "13.0.88"; its whole output if no version is found in it."""
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\bV(\d+(?:\.\d+)+)", text)
    return found.group(1) if found else text


class Compiler:
    """Compiles catalogue rows for architectures, and returns their machine code."""

    def __init__(
        self,
        cache: Cache | None = None,
        nvcc: Path | None = None,
        folder: Path | None = None,
        shipped: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Locate the tools. A missing tool is an error only when it is needed.

        Args:
            cache: cache of compiled rows.
            nvcc: path of nvcc, instead of the one that is found.
            folder: folder of the kernel sources.
            shipped: folder of machine code, instead of those that are installed.
            progress: called at the start and end of each compilation.
        """
        self.cache = cache or Cache()
        self.nvcc = nvcc or find_nvcc()
        self._folder = folder
        self._shipped = shipped_folders() if shipped is None else (shipped,)
        self._progress = progress

    def image(self, row: Row, arch: str) -> bytes:
        """Return a cubin, or PTX, that a GPU of this architecture can load."""
        key = sources.row_key(row, self._sources(), OPTIONS)
        shipped = self._shipped_image(row, arch, key)
        if shipped is not None:
            return shipped
        if self.nvcc is None:
            return self._without_nvcc(row, arch, key)
        return self._cached_image(row, arch, key)

    def usage(self, row: Row, arch: str) -> Usage:
        """Return a row's resource usage on an architecture; compile the row if the cache has no report."""
        key = sources.row_key(row, self._sources(), OPTIONS)
        name = self._name(row, arch, key, "txt")
        if self.cache.find(name) is None:
            self._cached_image(row, arch, key)
        report = self.cache.make(name, lambda: self._compile(row, arch)[1])
        return parse_usage(report.decode(errors="replace"), row.entry)

    def shipped_name(self, row: Row, arch: str) -> str:
        """Return the name of a row's file in `shipped`."""
        return self._file(row, arch, sources.row_key(row, self._sources(), OPTIONS))

    def _sources(self) -> Path:
        if self._folder is None:
            self._folder = sources.source_folder()
        return self._folder

    def _cached_image(self, row: Row, arch: str, key: str) -> bytes:
        def build() -> bytes:
            image, report = self._compile(row, arch)
            self.cache.make(self._name(row, arch, key, "txt"), lambda: report)
            return image

        return self.cache.make(self._name(row, arch, key), build)

    def _file(self, row: Row, arch: str, key: str) -> str:
        return f"{Path(row.source).stem}.{arch}.{key}.{'ptx' if arch.startswith('compute_') else 'cubin'}"

    def _name(self, row: Row, arch: str, key: str, suffix: str = "") -> str:
        tool = hashlib.sha256(nvcc_version(self._compiler(row)).encode()).hexdigest()[:8]
        stem, kind = self._file(row, arch, key).rsplit(".", 1)
        return f"{stem}.{tool}.{suffix or kind}"

    def _shipped_image(self, row: Row, arch: str, key: str) -> bytes | None:
        # A cubin also runs on later GPUs of the same major compute capability.
        own = capability(arch) if arch.startswith("sm_") else 0
        for other in (arch, *reversed(ARCHITECTURES)):
            of_other = capability(other) if other.startswith("sm_") else 0
            if other == arch or (of_other // 10 == own // 10 and of_other <= own):
                content = self._read_shipped(self._file(row, other, key))
                if content is not None:
                    return content
        return None

    def _read_shipped(self, name: str) -> bytes | None:
        # A file's name has the hash of its source, so those of another version are never found.
        return next((content for folder in self._shipped if (content := read(folder / name)) is not None), None)

    def _without_nvcc(self, row: Row, arch: str, key: str) -> bytes:
        # Accept the output of any version of nvcc, then PTX that the driver compiles for newer GPUs.
        for name in self.cache.names(f"{Path(row.source).stem}.{arch}.{key}.*.cubin"):
            content = self.cache.find(name)
            if content is not None:
                return content
        if capability(arch) >= int(NEWEST_PTX.removeprefix("compute_")):
            content = self._read_shipped(self._file(row, NEWEST_PTX, key))
            if content is not None:
                return content
        raise DeviceError(
            f"no machine code for GPU kernel {row.name} on {arch}, and no nvcc to compile it: install wfacli-kernels "
            f"of this version, or {GET_NVCC}"
        )

    def _compiler(self, row: Row) -> Path:
        if self.nvcc is None:
            raise DeviceError(f"GPU kernel {row.name} needs nvcc: {GET_NVCC}")
        return self.nvcc

    def _compile(self, row: Row, arch: str) -> tuple[bytes, bytes]:
        """Compile a row. Return its machine code and the assembler's report."""
        if self._progress:
            self._progress(row.name, arch, None)
        begun = time.perf_counter()
        folder = self._sources()
        with tempfile.TemporaryDirectory(prefix="wfacli-") as made:
            out = Path(made) / "kernel"
            kind = "-ptx" if arch.startswith("compute_") else "-cubin"
            command = [str(self._compiler(row)), kind, f"-arch={arch}", *OPTIONS, *row.definitions, "-I", str(folder)]
            done = subprocess.run(
                [*command, "-o", str(out), str(folder / row.source)], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise DeviceError(f"nvcc cannot compile GPU kernel {row.name} for {arch}: {_why(done)}")
            image, report = out.read_bytes(), (done.stderr or done.stdout or " ").encode()
        if self._progress:
            self._progress(row.name, arch, time.perf_counter() - begun)
        return image, report


def _why(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first line that names an error."""
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower() or "fatal" in line), lines[-1] if lines else "?")


def parse_usage(report: str, entry: str) -> Usage:
    """Parse a kernel's lines of `ptxas -v`; functions that are not inlined are included."""
    entries = set(re.findall(r"Compiling entry function '([^']+)'", report))
    if entry not in entries:
        raise DeviceError(f"the assembler reports nothing of {entry}")
    own = report.split(f"Compiling entry function '{entry}'")[-1]
    registers = re.search(r"Used (\d+) registers(.*)", own)
    shared = re.search(r"(\d+) bytes smem", registers.group(2)) if registers else None
    frames = [
        (int(stack), int(stores) + int(loads))
        for name, stack, stores, loads in re.findall(
            r"Function properties for (\S+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes", report
        )
        if name == entry or name not in entries
    ]
    return Usage(
        registers=int(registers.group(1)) if registers else 0,
        shared=int(shared.group(1)) if shared else 0,
        stack=max((stack for stack, _ in frames), default=0),
        spills=sum(spills for _, spills in frames),
    )
