"""Peers for one long pair, each in a process of its own, since native code can be ended only with its process.

A peer is a Python package, a shared library with the functions of driver.cpp, or a program.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from .build import RECIPES
from .distance_ours import Measured, NoAnswer, Rules
from .distance_work import Work, work_of
from .native import Aligner

_START = 60.0  # seconds for a process to start and read the pair
_MEMORY = 0.75  # share of the machine's memory that a peer may use


@dataclass(frozen=True)
class Peer:
    """A peer.

    Attributes:
        name: in a result.
        shown: in a table.
        setting: setting of its shared library; None for a Python package of this name, or a program.
        edit, cell: expected seconds per edits * edits, and per bases * edits.
        library: its shared library, or its program.
        program: arguments of the program.
    """

    name: str
    shown: str
    setting: str | None
    edit: float = 0.0
    cell: float = 0.0
    library: Path | None = None
    program: tuple[str, ...] = ()

    @property
    def package(self) -> bool:
        """True if it is a Python package."""
        return self.setting is None and not self.program

    def forecast(self, work: Work, edits: int) -> float:
        """Return the expected seconds."""
        return self.edit * edits * edits + self.cell * max(work.lengths) * edits

    @property
    def what(self) -> str:
        """Description for readers of a result."""
        if self.package:
            return f"{self.name} {metadata.version(self.name)}, the Python package"
        if self.name in RECIPES:
            return RECIPES[self.name].what
        options = f", {' '.join(self.program)}" if self.program else f", {self.setting}"
        return f"{self.shown}, built by the user{options}"


EDLIB = Peer("edlib", "edlib", None, cell=8e-11)
WFA2 = Peer("wfa2", "WFA2-lib", "biwfa", edit=1e-9)
QUICKED = Peer("quicked", "QuickEd", "", cell=8e-11)
ASTARPA2 = Peer("astarpa2", "A*PA2", "full", cell=3e-11)
# The code of paper 002, on a GPU by OpenCL; {} is the bound of edits that it requires, as small as possible.
WAVEFRONT_VARIANTS = Peer(
    "variants",
    "WavefrontVariants",
    None,
    edit=1.2e-10,
    cell=1.4e-10,
    program=("-k", "{}", "-wgs", "64", "-WFO2OCL"),
)


@dataclass(frozen=True)
class _Order:
    """What the other process is to do; the pair's bases come from a file."""

    peer: Peer
    bases: Path
    starts: tuple[int, int]
    lengths: tuple[int, int]
    edits: int  # the distance, if known


def write(work: Work, folder: Path) -> Path:
    """Write a pair's bases for peers; return the path."""
    path = folder / "bases"
    work.batch.bases.tofile(path)
    return path


def run(peer: Peer, work: Work, bases: Path, rules: Rules, edits: int = 0) -> Measured:
    """Run all repeats of a peer on a pair that `write` wrote. Raises NoAnswer."""
    batch = work.batch
    order = _Order(peer, bases, (int(batch.q_start[0]), int(batch.t_start[0])), work.lengths, edits)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, order), daemon=True)
    process.start()
    theirs.close()
    try:
        return _asked(ours, rules)
    finally:
        with contextlib.suppress(OSError):
            ours.send(False)
        ours.close()
        process.join(1)
        process.kill()
        process.join()


def _asked(connection: Any, rules: Rules) -> Measured:
    found = Measured()
    _answer(connection, _START)
    while not found.seconds or rules.repeated(found.seconds):
        limit = rules.limit
        connection.send(True)
        try:
            seconds, distance = _answer(connection, max(limit, 0))
        except NoAnswer:
            if found.seconds:  # one repeat is enough
                break
            raise
        if found.seconds and distance != found.distance:
            raise NoAnswer(f"a repeat says {distance}, the first run {found.distance}")
        found.seconds.append(seconds)
        found.distance = distance
    return found


def _answer(connection: Any, limit: float) -> tuple[float, int]:
    if not connection.poll(limit):
        raise NoAnswer(f"stopped after {limit:.0f} s")
    try:
        answer = connection.recv()
    except EOFError:
        raise NoAnswer("its process ended without an answer, perhaps for lack of memory") from None
    if isinstance(answer, str):
        raise NoAnswer(answer)
    seconds, distance = answer
    if distance < 0:
        raise NoAnswer("it gave no answer")
    return float(seconds), int(distance)


def serve(connection: Connection, order: _Order) -> None:
    """Run the other process: report that it is ready, then seconds and distance for each request."""
    whole = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = int(_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if not order.peer.program:  # programs that use a GPU map addresses for all of its memory
        resource.setrlimit(resource.RLIMIT_AS, (memory, whole))
    try:
        once = _opened(order)
        connection.send((0.0, 0))
        while connection.recv():
            connection.send(once())
    except EOFError:
        pass
    except Exception as error:
        connection.send(f"{type(error).__name__}: {error}")


def _opened(order: _Order) -> Callable[[], tuple[float, int]]:
    work = work_of(np.fromfile(order.bases, np.uint8), order.starts, order.lengths)
    if order.peer.program:
        return _program(order, work)
    if order.peer.setting is None:
        return _edlib(work)
    assert order.peer.library is not None
    aligner = Aligner(order.peer.library, "edit", True, order.peer.setting)

    def once() -> tuple[float, int]:
        seconds, costs = aligner.run(work.batch)
        return seconds, int(costs[0])

    return once


def _edlib(work: Work) -> Callable[[], tuple[float, int]]:
    import edlib

    query, target = work.pair.query.tobytes(), work.pair.target.tobytes()

    def once() -> tuple[float, int]:
        begun = time.perf_counter()
        distance = edlib.align(query, target, mode="NW", task="distance")["editDistance"]
        return time.perf_counter() - begun, distance

    return once


def _program(order: _Order, work: Work) -> Callable[[], tuple[float, int]]:
    """Return a call of a program that prints the distance and its own seconds, without compiling kernels."""
    assert order.peer.library is not None
    files = [order.bases.with_name(f"{side}.fa") for side in ("query", "target")]
    for file, bases in zip(files, (work.pair.query, work.pair.target), strict=True):
        file.write_bytes(b">" + file.stem.encode() + b"\n" + bases.tobytes() + b"\n")
    options = [word.format(max(order.edits, 1)) for word in order.peer.program]
    program = order.peer.library.resolve()
    command = [str(program), "-fP", str(files[0]), "-fT", str(files[1]), *options]

    def once() -> tuple[float, int]:
        done = subprocess.run(
            command, cwd=program.parent, capture_output=True, text=True, errors="replace", preexec_fn=_with_its_parent
        )
        found = re.search(r"Distance=(\d+) Time=([0-9.eE+-]+)", done.stdout)
        if not found:
            raise NoAnswer((done.stdout + done.stderr).strip()[-200:] or f"exit status {done.returncode}")
        return float(found[2]), int(found[1])

    return once


def _with_its_parent() -> None:
    """End this new process when its parent ends."""
    die_with_parent = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)
