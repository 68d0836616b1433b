"""The steps of `everything`: one command for each table, and commands for what the papers' tables lack."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.papers.found import OURS, Missed
from bench.peers import catalogue

BENCH = "wfacli bench"
SCRIPTS = {"local-gpu": "local_gpu"}  # kinds of results whose script has another name
Files = Mapping[str, list[tuple[str, Path]]]


@dataclass(frozen=True)
class Step:
    """One command.

    Attributes:
        script: module of bench/tables, or BENCH.
        words: options that the command always gets.
        needs_gpu: True if it requires a GPU.
        data: True if it accepts --data.
        quick: options for a run that only shows that the command works.
        minutes: expected time; when there is less time than all steps need, each gets a share of it by this number.
        less: options that shorten it when there is less time: fewer repeats, or fewer pairs.
        paced: True if it accepts --minutes and begins nothing after them.
        peers: options of the peers that it gets; None for all that it supports.
        least: seconds before which it is not ended for exceeding its share; for steps that --minutes does not shorten.
    """

    script: str
    words: tuple[str, ...] = ()
    needs_gpu: bool = False
    data: bool = False
    quick: tuple[str, ...] = ()
    minutes: float = 1.0
    less: tuple[str, ...] = ()
    paced: bool = False
    peers: tuple[str, ...] | None = None
    least: float = 0.0

    def command(self, data: Path | None, files: Files, more: Iterable[str] = ()) -> list[str]:
        """Return the words of the command; the file of BENCH's result is added later."""
        words = [*self.words, *more]
        if self.script == BENCH:
            return [sys.executable, "-m", "wfacli", "bench", *words]
        given = ["--data", str(data)] if self.data and data else []
        there = {option: found for option, found in files.items() if self.peers is None or option in self.peers}
        return [
            sys.executable,
            "-m",
            f"bench.tables.{self.script}",
            *words,
            *given,
            *catalogue.options(self.script, there),
        ]


_FEWER = ("--repeats", "2", "--patience", "2")
# Steps that cannot be shortened while they run go first.
ALL = (
    Step(BENCH, quick=("--quick",), minutes=2, less=("--quick",), paced=True),
    Step("api_rate", quick=("--pairs", "10000"), minutes=1, less=("--pairs", "30000"), least=25),
    Step("whole_command", quick=("--pairs", "100000", "--repeats", "3"), minutes=1.5, less=("--repeats", "3"),
         least=30),
    Step("peak_memory", quick=("--pairs", "30000"), minutes=1, less=("--pairs", "100000"), least=25),
    Step("data_path", quick=("--megabytes", "30", "--repeats", "2"), minutes=2.5, less=("--repeats", "2"),
         least=40),
    Step("cpu_table", data=True, quick=("--quick", "--repeats", "1", "--longest", "10"), minutes=10,
         less=("--share", "0.1", "--longest", "10", *_FEWER), paced=True),
    Step("extend_table", ("--save",), data=True, quick=("--repeats", "1"), minutes=4, less=("--repeats", "2"),
         paced=True),
    Step("free_table", ("--save",), quick=("--repeats", "1", "--bases", "300000"), minutes=4,
         less=("--repeats", "2", "--bases", "600000"), paced=True),
    Step("overlap_table", ("--save",), quick=("--repeats", "1", "--bases", "10000"), minutes=2,
         less=("--repeats", "2", "--bases", "20000"), paced=True),
    Step("guided_table", data=True, quick=("--share", "0.1"), minutes=1.5, less=("--repeats", "2"), paced=True),
    Step("local_table", data=True, quick=("--repeats", "1"), minutes=4, less=("--repeats", "1", "--longest", "20"),
         paced=True),
    Step("distance_table", data=True, quick=("--repeats", "1", "--longest", "10"), minutes=7,
         less=("--longest", "15", *_FEWER), paced=True),
    Step("gpu_table", needs_gpu=True, data=True, quick=("--quick",), minutes=25, less=("--longest", "10", *_FEWER),
         paced=True),
    Step("kernel_table", needs_gpu=True, quick=("--share", "0.1"), minutes=1, less=("--repeats", "2"), paced=True),
    Step("band_table", needs_gpu=True, data=True, quick=("--repeats", "2"), minutes=1, less=("--repeats", "3"),
         paced=True),
    Step("sw_table", ("--save", "--builds"), needs_gpu=True, data=True, quick=("--cells", "1e10"), minutes=3,
         less=("--cells", "2e10", "--repeats", "2"), paced=True),
    Step("distance_scale", needs_gpu=True, minutes=3.3, paced=True),
    Step("local_gpu", ("--strips",), needs_gpu=True, data=True, quick=("--repeats", "1"), minutes=2,
         less=("--repeats", "1"), paced=True, least=25),
)  # fmt: skip


def lacking(missed: Iterable[Missed], files: Files) -> list[Step]:
    """Return the steps that measure what the papers' tables lack: our rows, and those of peers that are present."""
    there = {option.removeprefix("--") for option in files}
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for one in missed:
        if one.aligner == OURS or one.aligner in there:
            peers = wanted.setdefault((one.kind, one.task, one.row), set())
            peers.update({f"--{one.aligner}"} - {f"--{OURS}"})
    rows: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (kind, task, row), options in wanted.items():
        by_peer = kind in ("gpu-table", "local-gpu")  # other scripts run their peers in the same row, or have none
        rows.setdefault((kind, task, tuple(sorted(options)) if by_peer else ()), []).append(row)
    return [_lacking_step(kind, task, peers, some) for (kind, task, peers), some in rows.items()]


def _lacking_step(kind: str, task: str, peers: tuple[str, ...], rows: list[str]) -> Step:
    """Return one command for rows that lack the same peers."""
    named = [name for name in rows if name]
    words = ("--rows", *named) if named else ()
    if kind == "gpu-table":
        words += ("--tasks", task)
    elif kind == "sw-table":
        lengths = [name for name in rows if name.isdigit()]
        words = ("--save", "--builds", "--lengths", *lengths, *(() if len(lengths) < len(rows) else ("--no-seeds",)))
    elif kind == "distance-scale":
        words = ()
    elif kind == "local-gpu":
        words += (*(("--strips",) if "" in rows else ()), *(("--score-only",) if peers else ()))
    less = ("--repeats", "2") if kind in ("gpu-table", "band-table") else ()
    minutes = 0.6 + len(rows) * (0.15 + 0.15 * len(peers))
    data = kind not in ("kernel-table", "distance-scale")
    of_peers = None if kind == "sw-table" else peers
    script = SCRIPTS.get(kind, kind.replace("-", "_"))
    return Step(script, words, True, data, minutes=minutes, less=less, paced=True, peers=of_peers)
