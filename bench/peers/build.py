"""Download the peers' sources as pip packages and compile each, with our driver, into a shared library.

None of their code is in this repository; libraries stay in bench/peers/build until they are deleted.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"
CACHE = Path(__file__).parent / "build"
ISA = os.environ.get("WFACLI_ISA") or "native"  # peers use the instruction set of our own kernels
FLAGS = ("-O3", f"-march={ISA}", "-fPIC", "-w")


class Unavailable(Exception):
    """A peer that cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Recipe:
    """How a peer is built.

    Attributes:
        package: distribution that contains it; "" if the user has a checkout.
        version: version of the distribution.
        what: description for readers of a result.
        sources: its files, as glob patterns relative to the unpacked distribution.
        includes: folders for #include, relative to the same.
        flags: further compiler flags.
        wheel: True to use a built distribution, if the source distribution has no native sources.
        link: libraries, relative to the same, and the names under which ours finds them when it is loaded.
    """

    package: str
    version: str
    what: str
    sources: tuple[str, ...] = ()
    includes: tuple[str, ...] = (".",)
    flags: tuple[str, ...] = ()
    wheel: bool = False
    link: tuple[tuple[str, str], ...] = ()


_WFA2 = "pywfa/WFA2_lib"
_QUICKED_UTILS = ("commons", "mm_allocator", "profiler_timer", "profiler_counter", "vector", "dna_text", "cigar")
RECIPES = {
    "wfa2": Recipe(
        "pywfa",
        "0.6.0",
        "WFA2-lib 2.3 from pywfa 0.6.0",
        tuple(f"{_WFA2}/{folder}/*.c" for folder in ("alignment", "system", "utils", "wavefront")),
        (_WFA2,),
    ),
    "edlib": Recipe("edlib", "1.3.9.post1", "edlib 1.3.9", ("edlib/src/edlib.cpp",), ("edlib/include",)),
    "ksw2": Recipe(
        "mappy",
        "2.31",
        "ksw2 from minimap2 2.31 (mappy)",
        ("ksw2_extz2_sse.c", "kalloc.c"),
        flags=("-DHAVE_KALLOC",),
    ),
    "parasail": Recipe(
        "parasail",
        "1.3.4",
        "the library in parasail's wheel 1.3.4, as built by its authors",
        includes=("parasail/include",),
        wheel=True,
        link=(("parasail/libparasail.so", "libparasail.so.8"),),
    ),
    "quicked": Recipe(
        "",
        "",
        "QuickEd from the user's checkout",
        ("quicked/src/*.c", *(f"quicked_utils/src/{name}.c" for name in _QUICKED_UTILS)),
        (".", "quicked", "quicked/include", "quicked_utils/include"),
        ("-flto=auto",),
    ),
}


def library(peer: str, checkout: Path | None, say: Callable[[str], None], own: str = "") -> Path:
    """Return the peer's shared library; build it if it is missing or older than our adapter. Raises Unavailable.

    Args:
        peer: a key of RECIPES.
        checkout: its sources, for a peer without a package.
        say: receives messages about slow steps.
        own: name of our adapter, if it is not called as driver.cpp does.
    """
    recipe = RECIPES[peer]
    if not recipe.package and checkout is None:
        raise Unavailable(f"not asked for (--{peer} PATH to a checkout of it)")
    folder = CACHE / _machine_key() / (f"{peer}-{recipe.version}" if recipe.package else f"{peer}-{_key(checkout)}")
    made = folder / f"peer_{own or peer}.so"  # not lib…, which may be the name of the peer's own library
    ours = (
        [ADAPTERS / f"{own}.cpp"] if own else [ADAPTERS / name for name in ("driver.cpp", "peer.hpp", f"{peer}.cpp")]
    )
    if made.exists() and made.stat().st_mtime > max(path.stat().st_mtime for path in ours):
        return made
    say(f"building {peer}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        sources = _unpacked(recipe, folder) if recipe.package else checkout
        assert sources is not None
        _compile(recipe, sources, folder, [path for path in ours if path.suffix == ".cpp"], made)
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.decode(errors="replace").splitlines() if line.strip()]
        culprit = next((line for line in said if "error" in line.lower()), said[-1] if said else "no message")
        raise Unavailable(f"{Path(error.cmd[0]).name}: {culprit.strip()}") from None
    except OSError as error:
        raise Unavailable(str(error)) from None
    return made


def _unpacked(recipe: Recipe, folder: Path) -> Path:
    """Download and unpack a distribution; return the folder of its files."""
    sources = folder / "sources"
    if sources.exists():
        return sources
    kind = ["--only-binary", ":all:"] if recipe.wheel else ["--no-binary", recipe.package]
    wanted = f"{recipe.package}=={recipe.version}"
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *kind, "--dest", str(folder), wanted], folder)
    archive = next(iter([*folder.glob("*.whl"), *folder.glob("*.tar.gz")]), None)
    if archive is None:
        raise Unavailable(f"pip brought no archive of {wanted} that can be unpacked here")
    fresh = folder / "unpacking"
    shutil.rmtree(fresh, ignore_errors=True)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(fresh)
        fresh.rename(sources)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(fresh, filter="data")
        next(fresh.iterdir()).rename(sources)
        fresh.rmdir()
    return sources


def _compile(recipe: Recipe, sources: Path, folder: Path, ours: list[Path], made: Path) -> None:
    """Compile the peer and our adapter, and link them."""
    objects = folder / "objects"
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir()
    theirs = [path for pattern in recipe.sources for path in sorted(sources.glob(pattern))]
    if recipe.sources and not theirs:
        raise Unavailable(f"its sources are not in {sources}")
    includes = [f"-I{(sources / path).resolve()}" for path in recipe.includes]
    flags = [*FLAGS, *recipe.flags, *includes]
    c_compiler = shlex.split(os.environ.get("CC", "cc"))
    cpp_compiler = shlex.split(os.environ.get("CXX", "c++"))
    c_sources = [str(path.resolve()) for path in theirs if path.suffix == ".c"]
    cpp_sources = [str(path.resolve()) for path in theirs if path.suffix == ".cpp"]
    if c_sources:
        _run([*c_compiler, *flags, "-c", *c_sources], objects)
    for number, path in enumerate([*cpp_sources, *map(str, ours)]):  # theirs and ours may have the same name
        _run([*cpp_compiler, "-std=c++20", *flags, f"-I{ADAPTERS}", "-c", path, "-o", f"cpp{number}.o"], objects)
    linked = [shutil.copy(sources / path, folder / name) for path, name in recipe.link]
    fresh = made.with_suffix(".new")
    compiled = [str(path) for path in sorted(objects.glob("*.o"))]
    together = ["-shared", "-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN", "-o", str(fresh)]
    _run([*cpp_compiler, *flags, *together, *compiled, *map(str, linked), "-lm"], folder)
    fresh.replace(made)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _machine_key() -> str:
    """Return a key of the processor's instruction sets, since libraries are built for them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(f"{features}{ISA.removeprefix('native')}".encode()).hexdigest()[:8]


def _key(path: Path | None) -> str:
    return hashlib.sha256(str(path and path.resolve()).encode()).hexdigest()[:8]
