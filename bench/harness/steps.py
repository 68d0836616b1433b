"""What the whole comparison is made of: one command a table, and those that make what the papers' tables lack."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.papers.found import OURS, Missed
from bench.peers import catalogue

BENCH = "wfacli bench"
SCRIPTS = {"local-card": "local_gpu"}  # of kinds of results that have another name
Files = Mapping[str, list[tuple[str, Path]]]


@dataclass(frozen=True)
class Step:
    """One command.

    Attributes:
        script: of bench/tables, without its suffix; or BENCH.
        words: its own options.
        card: whether it is nothing without a card.
        data: whether it takes --data.
        quick: what makes it so short that it is no evidence.
        minutes: about what it takes; of a time that is too short for all it has its part.
        less: what makes it shorter where there is less time: fewer repeats, or fewer of the pairs.
        paced: whether it takes --minutes, and begins nothing after them.
        peers: options of the peers that it gets; None for all that it has.
        least: seconds before which it is not ended for having more than its part; of one whose work is not cut to it.
    """

    script: str
    words: tuple[str, ...] = ()
    card: bool = False
    data: bool = False
    quick: tuple[str, ...] = ()
    minutes: float = 1.0
    less: tuple[str, ...] = ()
    paced: bool = False
    peers: tuple[str, ...] | None = None
    least: float = 0.0

    def command(self, data: Path | None, files: Files, more: Iterable[str] = ()) -> list[str]:
        """The words that run it; BENCH's result goes to a file that is named later."""
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
# Those that cannot be made shorter on the way go first.
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
    Step("free_table", ("--save",), quick=("--repeats", "1", "--letters", "300000"), minutes=4,
         less=("--repeats", "2", "--letters", "600000"), paced=True),
    Step("overlap_table", ("--save",), quick=("--repeats", "1", "--letters", "10000"), minutes=2,
         less=("--repeats", "2", "--letters", "20000"), paced=True),
    Step("guided_table", data=True, quick=("--share", "0.1"), minutes=1.5, less=("--repeats", "2"), paced=True),
    Step("local_table", data=True, quick=("--repeats", "1"), minutes=4, less=("--repeats", "1", "--longest", "20"),
         paced=True),
    Step("distance_table", data=True, quick=("--repeats", "1", "--longest", "10"), minutes=7,
         less=("--longest", "15", *_FEWER), paced=True),
    Step("gpu_table", card=True, data=True, quick=("--quick",), minutes=25, less=("--longest", "10", *_FEWER),
         paced=True),
    Step("kernel_table", card=True, quick=("--share", "0.1"), minutes=1, less=("--repeats", "2"), paced=True),
    Step("band_table", card=True, data=True, quick=("--repeats", "2"), minutes=1, less=("--repeats", "3"), paced=True),
    Step("sw_table", ("--save", "--builds"), card=True, data=True, quick=("--cells", "1e10"), minutes=3,
         less=("--cells", "2e10", "--repeats", "2"), paced=True),
    Step("distance_scale", card=True, minutes=3.3, paced=True),
    Step("local_gpu", ("--strips",), card=True, data=True, quick=("--repeats", "1"), minutes=2,
         less=("--repeats", "1"), paced=True, least=25),
)  # fmt: skip


def lacking(missed: Iterable[Missed], files: Files) -> list[Step]:
    """Steps that make what the papers' tables lack: rows of ours, and of peers that there are, beside no others."""
    there = {option.removeprefix("--") for option in files}
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for one in missed:
        if one.aligner == OURS or one.aligner in there:
            peers = wanted.setdefault((one.kind, one.task, one.row), set())
            peers.update({f"--{one.aligner}"} - {f"--{OURS}"})
    rows: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (kind, task, row), options in wanted.items():
        by_peer = kind in ("gpu-table", "local-card")  # the others take their peers' turns for a row or not at all
        rows.setdefault((kind, task, tuple(sorted(options)) if by_peer else ()), []).append(row)
    return [_lacking_step(kind, task, peers, some) for (kind, task, peers), some in rows.items()]


def _lacking_step(kind: str, task: str, peers: tuple[str, ...], rows: list[str]) -> Step:
    """One command for rows that lack the same."""
    named = [name for name in rows if name]
    words = ("--rows", *named) if named else ()
    if kind == "gpu-table":
        words += ("--tasks", task)
    elif kind == "sw-table":
        lengths = [name for name in rows if name.isdigit()]
        words = ("--save", "--builds", "--lengths", *lengths, *(() if len(lengths) < len(rows) else ("--no-seeds",)))
    elif kind == "distance-scale":
        words = ()
    elif kind == "local-card":
        words += (*(("--strips",) if "" in rows else ()), *(("--score-only",) if peers else ()))
    less = ("--repeats", "2") if kind in ("gpu-table", "band-table") else ()
    minutes = 0.6 + len(rows) * (0.15 + 0.15 * len(peers))
    data = kind not in ("kernel-table", "distance-scale")
    of_peers = None if kind == "sw-table" else peers
    script = SCRIPTS.get(kind, kind.replace("-", "_"))
    return Step(script, words, True, data, minutes=minutes, less=less, paced=True, peers=of_peers)
