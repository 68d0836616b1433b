"""Compare instruction counts with a baseline: fails when the native core or a GPU kernel needs many more.

    python -m bench.checks.check [--threshold 0.05] [--update] [--only native|kernels] [--all-kernels]

Counts are compared, and not times, because they are nearly the same on every machine, however busy it is.

native: instructions of wfacli's own machine code, counted by callgrind (valgrind) over the fixed work of counted.py:
    simulated pairs, one thread, the build for x86-64-v3. Instructions of libraries and Python do not count, since they
    depend on memory addresses.
kernels: for each kind of row of the GPU catalogue (with --all-kernels: each row) the instructions of the machine code,
    registers per thread and spilled bytes, from nvcc for sm_90. No GPU is needed.

A kind whose tool is missing is skipped, with a message. A baseline (bench/checks/baseline.json) holds for one
compiler; counts of another compiler are compared with nothing until --update writes them. Exit status: 0 no rise, 1 a
rise above --threshold, 2 something failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wfacli import _native
from wfacli.core.cores import usable_cores
from wfacli.errors import DeviceError
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler, find_nvcc, nvcc_version
from wfacli.gpu.compile.package import build_rows
from wfacli.gpu.kernels.catalogue import ROWS, Row
from wfacli.measure.machine import commit

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
KERNEL_CACHE = HERE.parents[1] / "build" / "kernels"
ARCHITECTURE = "sm_90"
INSTRUCTION_BYTES = 16  # since Volta
_NOP = 0x7918  # the low 12 bits of an instruction are its opcode, the next four its predicate
Counts = dict[str, int]


class Skipped(Exception):
    """A missing tool; the message names it and says how to install it."""


# The native core


def native_counts(python: str = sys.executable, only: Iterable[str] = ()) -> Counts:
    """Return instructions by work. Raises Skipped or CalledProcessError."""
    valgrind, compiler = shutil.which("valgrind"), shutil.which("cc")
    if not valgrind or not compiler:
        raise Skipped("valgrind and a C compiler are needed (Debian: apt-get install valgrind gcc)")
    if "x86-64-v3" not in _native.instruction_sets():
        raise Skipped("the counts are of the build for x86-64-v3, which this machine does not run")
    with tempfile.TemporaryDirectory(prefix="wfacli-check-") as made:
        library, out = Path(made) / "callgrind_on.so", Path(made) / "out"
        build = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "callgrind_on.c")]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skipped(f"valgrind's headers are needed: {done.stderr.strip().splitlines()[0]}")
        tool = [valgrind, "-q", "--tool=callgrind", "--instr-atstart=no", "--dump-line=no"]
        command = [*tool, f"--callgrind-out-file={out}", python, str(HERE / "counted.py"), str(library), *only]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(HERE)}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"the work could not be counted: {(ran.stderr or ran.stdout).strip()[-2000:]}")
        parts = sorted(Path(made).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        return dict(counted(path.read_text(errors="replace"), "_native") for path in parts)


def counted(text: str, module: str) -> tuple[str, int]:
    """Return the name of a callgrind dump, and the self cost in objects whose names begin with `module`."""
    reason = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    names: dict[str, str] = {}
    inside, inclusive, total = False, False, 0
    for line in text.splitlines():
        if found := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?$", line):
            called, number, name = found.groups()
            if name:
                names[number] = Path(name).name
            if not called:
                inside = names[number].startswith(module)
        elif line.startswith("calls="):
            inclusive = True  # the next line is the cost of the callee
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if inside and not inclusive:
                total += int(line.split()[-1])
            inclusive = False
    return reason[1] if reason else "", total


def native_compiler() -> str:
    """Return the compiler of the native module, as recorded in the module."""
    made = Path(_native.__file__).read_bytes()
    found = re.findall(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", made)
    return ", ".join(sorted({text.decode() for text in found})) or "an unknown compiler"


# The GPU kernels


def kernel_counts(rows: Iterable[Row], compiler: Compiler) -> Counts:
    """Return instructions, registers, and spilled and stack bytes by row. Raises Skipped."""
    counts: Counts = {}
    rows = list(rows)
    try:
        for built in build_rows(compiler, rows, (ARCHITECTURE,), usable_cores()):
            row, usage = built.row, built.usage
            assert usage is not None
            counts[f"{row.name}, instructions"] = instructions(compiler.image(row, ARCHITECTURE), row.entry)
            counts[f"{row.name}, registers"] = usage.registers
            counts[f"{row.name}, spilled bytes"] = usage.spills + usage.stack
    except DeviceError as problem:
        raise RuntimeError(str(problem)) from None
    return counts


def instructions(image: bytes, entry: str) -> int:
    """Return the instructions of a kernel in a cubin and of its callees, without padding; loops count once."""
    total = 0
    for name, code in code_sections(image):
        kernel = name.removeprefix(".text.")
        if kernel == entry or not is_kernel(image, kernel):
            size = len(code) // INSTRUCTION_BYTES
            while size and struct.unpack_from("<H", code, (size - 1) * INSTRUCTION_BYTES)[0] == _NOP:
                size -= 1
            total += size
    return total


def is_kernel(image: bytes, name: str) -> bool:
    """Return whether a function is a kernel, which has a constant bank of its own."""
    return f".nv.constant0.{name}\0".encode() in image


def code_sections(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the code sections of a 64-bit little-endian ELF file."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF file")
    at, size, count, names_at = struct.unpack_from("<Q10xHHH", image, 40)
    headers = [struct.unpack_from("<II4QII2Q", image, at + number * size) for number in range(count)]
    names = headers[names_at]
    for header in headers:
        start = names[4] + header[0]
        name = image[start : image.index(b"\0", start)].decode()
        if name.startswith(".text."):
            yield name, image[header[4] : header[4] + header[5]]


def one_of_each(rows: Iterable[Row]) -> list[Row]:
    """Return, for each function and kind of results and bases, its last row, which is the widest."""

    def kind(row: Row) -> tuple[object, ...]:
        macros = dict(row.macros)
        coded = macros.get("WFACLI_CODED") == 1
        return row.source, row.entry, coded, bool(macros.get("WFACLI_TRACE") or macros.get("WFACLI_PATH"))

    return list({kind(row): row for row in rows}.values())


# Both


def rises(old: Mapping[str, int], new: Mapping[str, int], threshold: float) -> list[tuple[str, int, int]]:
    """Return (name, old, new) of counts that rose by more than a share, the worst first; any rise from 0 counts."""
    found = [(name, old[name], now) for name, now in new.items() if name in old and now > old[name] * (1 + threshold)]
    return sorted(found, key=lambda one: -one[2] / max(one[1], 1e-9))


def table(old: Mapping[str, int], new: Mapping[str, int], threshold: float) -> list[str]:
    """Return a line for each count that changed; rises above the threshold are marked."""
    bad = {name for name, *_ in rises(old, new, threshold)}
    lines = []
    for name, now in new.items():
        was = old.get(name)
        if was is None:
            lines.append(f"  {name:44} {'new':>14} {now:>14,}")
        elif was != now:
            change = f"{now / was - 1:+.2%}" if was else "from 0"
            lines.append(f"  {name:44} {was:>14,} {now:>14,} {change:>9}{'  ROSE' if name in bad else ''}")
    lines += [f"  {name:44} {old[name]:>14,} {'gone':>14}" for name in old if name not in new]
    return lines


def judged(kind: str, tool: str, new: Counts, baseline: dict[str, Any], threshold: float, update: bool) -> bool:
    """Print how counts compare with their baseline, or make them the baseline; return False after a rise."""
    known = baseline.setdefault(kind, {})
    if update:
        known[tool] = {"commit": commit(), "counts": new}
        print(f"{kind}: {len(new)} counts by {tool} are the baseline now")
        return True
    if tool not in known:
        others = "; ".join(known) or "none"
        print(f"{kind}: no baseline by {tool} (there is: {others}): nothing compared; --update makes one")
        return True
    old = known[tool]["counts"]
    for line in table(old, new, threshold):
        print(line)
    worse = rises(old, new, threshold)
    what = (
        f"{len(worse)} of {len(new)} counts rose by more than {threshold:.0%}" if worse else f"{len(new)} counts hold"
    )
    print(f"{kind}: {what} ({tool}; baseline of {known[tool]['commit']})")
    return not worse


def asked(arguments: list[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threshold", type=float, default=0.05, help="share by which a count may rise (0.05)")
    parser.add_argument("--update", action="store_true", help="make what is counted now the baseline")
    parser.add_argument("--only", choices=("native", "kernels"), help="of both")
    parser.add_argument("--all-kernels", action="store_true", help="every row of the catalogue: takes long to compile")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="bench/checks/baseline.json")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    a = asked(arguments)
    baseline = json.loads(a.baseline.read_text()) if a.baseline.exists() else {}
    well = True
    try:
        if a.only != "kernels":
            try:
                counts = native_counts()
                well &= judged("native", native_compiler(), counts, baseline, a.threshold, a.update)
            except Skipped as why:
                print(f"native: skipped: {why}")
        if a.only != "native":
            nvcc = find_nvcc()
            if nvcc is None:
                print("kernels: skipped: no nvcc")
            else:
                compiler = Compiler(Cache(KERNEL_CACHE), nvcc, shipped=Path("/nonexistent"))
                rows = ROWS.values() if a.all_kernels else one_of_each(ROWS.values())
                tool = f"nvcc {nvcc_version(nvcc)}, {ARCHITECTURE}"
                well &= judged("kernels", tool, kernel_counts(rows, compiler), baseline, a.threshold, a.update)
    except (RuntimeError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 2
    if a.update:
        a.baseline.write_text(json.dumps(baseline, indent=1) + "\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
