"""Helpers that run the command, create inputs and parse outputs, without code of wfacli."""

from __future__ import annotations

import fcntl
import gzip
import os
import random
import re
import struct
import subprocess
import sys
import termios
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from . import forked

Pairs = Sequence[tuple[str, str]]

# The empty block that ends every BGZF file (SAM specification, section 4.1.2).
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
ESCAPE = "\x1b["

# Beginnings of the names of variables that Python and the C library read when a process starts.
AT_START = ("PYTHON", "LD_", "LC_", "LANG")


def command() -> list[str]:
    """Return the command installed beside this interpreter, or else the module."""
    beside = Path(sys.executable).with_name("wfacli")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "wfacli"]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment, without variables that change messages or vary, and with additions."""
    without = ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CI", "PYTEST_CURRENT_TEST")
    kept = {k: v for k, v in os.environ.items() if k not in without}
    return {**kept, "COLUMNS": "200", "TERM": "xterm", **more}


@dataclass(frozen=True)
class Result:
    """Results of a run."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def rows(self) -> list[list[str]]:
        """Lines of standard output without SAM's header, split at tabs."""
        return rows_of(self.out)


def run(
    *arguments: str | Path,
    cwd: Path,
    stdin: bytes | BinaryIO = b"",
    stdout: BinaryIO | None = None,
    env: dict[str, str] | None = None,
    program: list[str] | None = None,
    timeout: float = 120,
    stop: Callable[[], bool] | None = None,
) -> Result:
    """Run the command to completion in a fork (forked.py), or in a new process if `env` or `program` requires one.

    Bytes for stdin are sent through a pipe; a file is passed directly. The fork is killed once `stop` returns True.
    """
    default = environment()
    more = {name: value for name, value in (env or {}).items() if default.get(name) != value}
    read_at_start = any(name.startswith(AT_START) for name in more) or bool(env and default.keys() - env.keys())
    if program is None and not read_at_start:
        data = stdin if isinstance(stdin, bytes) else stdin.fileno()
        output = None if stdout is None else stdout.fileno()
        code, out, err = forked.run(
            list(map(str, arguments)), cwd, data, output, default, timeout, more=more, stop=stop
        )
        return Result(code, out, err.decode(errors="replace"))
    feed: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run(
        [*(program or command()), *map(str, arguments)],
        **feed,
        cwd=cwd,
        env=env or default,
        timeout=timeout,
        check=False,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return Result(done.returncode, done.stdout or b"", done.stderr.decode(errors="replace"))


def start(*arguments: str | Path, cwd: Path, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command with pipes, without waiting."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command(), *map(str, arguments)], cwd=cwd, **{"env": environment(), **pipes, **options})


def assert_success(result: Result) -> None:
    assert result.code == 0, result.err
    assert "error" not in result.err
    assert "Traceback" not in result.err


def assert_failure(result: Result, code: int, *words: str) -> None:
    """Assert that the run failed with this exit status and one error message with these words, without a traceback."""
    assert result.code == code, result.err
    assert "Traceback" not in result.err
    # Either wfacli's error line, or the frame that Typer draws around errors in options.
    assert len(re.findall("wfacli: error: |─ Error ─", result.err)) == 1, result.err
    for word in words:
        assert word in result.err, f"{word!r} is not in: {result.err}"


def rows_of(text: bytes) -> list[list[str]]:
    return [line.split("\t") for line in text.decode().splitlines() if not line.startswith("@")]


def header_of(text: bytes) -> list[str]:
    return [line for line in text.decode().splitlines() if line.startswith("@")]


def tags_of(row: Sequence[str]) -> dict[str, str]:
    """Return the optional fields of a SAM or PAF row by name."""
    return {f[:2]: f[5:] for f in row if len(f) > 4 and f[2] == ":" and f[4] == ":"}


# Inputs


def random_symbols(count: int, seed: int) -> str:
    return "".join(random.Random(seed).choices("ACGT", k=count))


def random_pairs(count: int, length: int = 60, seed: int = 1) -> list[tuple[str, str]]:
    """Return pairs that differ by one mismatch and one inserted base."""
    symbols = random.Random(seed)
    pairs = []
    for _ in range(count):
        query = "".join(symbols.choices("ACGT", k=length))
        middle = length // 2
        pairs.append((query, query[1:middle] + "A" + query[middle:]))
    return pairs


def fasta(sequences: Sequence[str], mark: str = "r", width: int = 0) -> bytes:
    """Return records r1, r2 and so on; a width wraps the sequences."""
    lines = []
    for number, symbols in enumerate(sequences, 1):
        lines.append(f">{mark}{number} described")
        step = width or max(len(symbols), 1)
        lines += [symbols[i : i + step] for i in range(0, len(symbols), step)]
    return "".join(line + "\n" for line in lines).encode()


def fastq(sequences: Sequence[str], mark: str = "r") -> bytes:
    records = []
    for number, symbols in enumerate(sequences, 1):
        quality = "".join(chr(33 + (i * 7 + number) % 94) for i in range(len(symbols)))
        records.append(f"@{mark}{number} described\n{symbols}\n+\n{quality}\n")
    return "".join(records).encode()


def seq(pairs: Pairs) -> bytes:
    return "".join(f">{q}\n<{t}\n" for q, t in pairs).encode()


def table(pairs: Pairs, names: bool = False) -> bytes:
    return "".join((f"n{i}\t" if names else "") + f"{q}\t{t}\n" for i, (q, t) in enumerate(pairs, 1)).encode()


def bgzf_blocks(data: bytes, size: int = 4096) -> list[bytes]:
    """Return BGZF blocks of up to `size` bytes each, without the final empty block."""
    blocks = []
    for begin in range(0, len(data), size):
        piece = data[begin : begin + size]
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = deflate.compress(piece) + deflate.flush()
        # The gzip header of ten bytes, and an extra field of six: BC, length 2, block size minus one.
        head = struct.pack("<4BI2BH2s2H", 31, 139, 8, 4, 0, 0, 255, 6, b"BC", 2, len(packed) + 25)
        blocks.append(head + packed + struct.pack("<2I", zlib.crc32(piece), len(piece)))
    return blocks


def bgzf(data: bytes, size: int = 4096) -> bytes:
    return b"".join(bgzf_blocks(data, size)) + BGZF_END


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as codec
    else:
        from backports import zstd as codec
    return codec.compress(data)


COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bgz": bgzf, "zst": zstd}


def unread(pipe: IO[bytes]) -> int:
    """Return the number of bytes in a pipe, by its writing end: 0 once the command has read them."""
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0])


def feed(path: Path, pieces: Sequence[bytes]) -> threading.Thread:
    """Create a FIFO and write to it from a thread, like a process substitution."""
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            for piece in pieces:
                pipe.write(piece)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer
