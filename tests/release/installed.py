"""Install wfacli from wheels into an empty environment without a compiler, and run README's first example.

    python -m tests.release.installed [--dist dist] [--python python3.12] [--seconds 15]

pip may use wheels only, and PATH has nothing but the environment and the few programs that the example names. Fails if
an output differs from README's, or if it all takes longer than --seconds (0: however long).
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.docs.pages import ROOT, blocks
from tests.docs.served import MAPPER
from tests.docs.test_commands import steps

PROGRAMS = ("sh", "bash", "cut", "sed", "head", "gzip", "env")  # of the examples
_SAMTOOLS = """#!{python}
import sys, pysam
sys.stdout.write(getattr(pysam.samtools, sys.argv[1])(*sys.argv[2:]) or "")
"""


class Failed(Exception):
    """The installation does not do what README says."""


def programs(folder: Path, python: Path) -> None:
    """Write the programs of the examples into a folder: links, and stand-ins for mapper and samtools where missing."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    for name, stand_in in (("minimap2", MAPPER), ("samtools", _SAMTOOLS.format(python=python))):
        if name == "minimap2" and (found := shutil.which(name)):
            (folder / name).symlink_to(found)
        else:
            (folder / name).write_text(stand_in)
            (folder / name).chmod(0o755)


def compilers(path: str) -> list[str]:
    """Return the compilers that a search path has."""
    names = ("cc", "c++", "gcc", "g++", "clang", "clang++", "nvcc", "cmake", "ninja", "make")
    return [name for name in names if shutil.which(name, path=path)]


def run(command: list[str | Path], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command and return what it printed. Raises Failed."""
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
    return done.stdout


def version() -> str:
    """Return the version of this checkout."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "wfacli" / "__init__.py").read_text(), re.MULTILINE)
    assert found
    return found[1]


def examples() -> list[tuple[str, str]]:
    """Return the commands of README's first example, and what they print."""
    shown = [block for block in blocks((ROOT / "README.md").read_text()) if block.language == "console"]
    return [(command, printed or "") for command, printed in steps(shown[0])]


def check(dist: Path, python: str, folder: Path, demo: bool = False) -> float:
    """Install and run; return the seconds that the two took.

    Args:
        dist: folder of the wheels.
        python: the interpreter of the environment.
        folder: an empty folder.
        demo: run data/demo.sh, too, which is not timed.

    Raises:
        Failed: it cannot be installed, or an example prints something else.
    """
    run([python, "-m", "venv", folder / "venv"], folder, os.environ)
    own = folder / "venv" / "bin"
    (folder / "bin").mkdir()
    programs(folder / "bin", own / "python")
    path = f"{own}{os.pathsep}{folder / 'bin'}"
    if there := compilers(path):
        raise Failed(f"there is a compiler after all: {', '.join(there)}")
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "SSL", "LC_", "LANG"))
    }
    environment = kept | {"PATH": path, "COLUMNS": "100", "CUDA_VISIBLE_DEVICES": ""}
    shutil.copytree(ROOT / "data", folder / "data", ignore=shutil.ignore_patterns("*.png", "*.py"))
    begun = time.monotonic()
    wheels = ["--only-binary", ":all:", "--find-links", dist.resolve()]
    run([own / "python", "-m", "pip", "install", "-q", *wheels, f"wfacli=={version()}"], folder, environment)
    where = run([own / "python", "-c", "import wfacli; print(wfacli.__file__)"], folder, environment)
    if not Path(where.strip()).is_relative_to(folder):
        raise Failed(f"that is another wfacli: {where.strip()}")
    for command, expected in examples():
        printed = run(["bash", "-euo", "pipefail", "-c", command], folder, environment)
        plain = ["\n".join(line.rstrip() for line in text.splitlines()) + "\n" for text in (expected, printed)]
        if not doctest.OutputChecker().check_output(*plain, doctest.ELLIPSIS):
            raise Failed(f"{command}README shows:\n{expected}\nprinted:\n{printed}")
    took = time.monotonic() - begun
    if demo:
        print(run(["sh", ROOT / "data" / "demo.sh"], folder, environment | {"PATH": f"{path}:/usr/bin:/bin"}))
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--demo", action="store_true", help="run data/demo.sh, too")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wfacli-installed-") as folder:
        try:
            took = check(chosen.dist, chosen.python, Path(folder), chosen.demo)
        except Failed as problem:
            sys.exit(f"installed.py: {problem}")
    print(f"installed without a compiler, and README's first example, in {took:.1f} s")
    if chosen.seconds and took > chosen.seconds:
        sys.exit(f"installed.py: that is more than {chosen.seconds:g} s")


if __name__ == "__main__":
    main()
