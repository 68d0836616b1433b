"""What bench/results holds for a cell of a paper's table: always of the newest file that has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pages.results import RESULTS, card, machine, newest
from bench.pages.text import Report

OURS = "wfacli"
MISSING = "not measured"
NO_PEER, NO_SET = "not run", "no set"


@dataclass(frozen=True)
class Timing:
    """One aligner at one row and task.

    Attributes:
        seconds: the best repeat's.
        pairs: that were aligned.
        right: share of its costs that are right; None where they were not compared.
        stages: thread-seconds of one run by stage and kernel; of ours alone.
    """

    seconds: float
    pairs: int
    right: float | None
    stages: dict[str, float]

    def for_pairs(self, count: int) -> float:
        """Seconds for so many pairs at this rate."""
        return self.seconds * count / self.pairs


@dataclass(frozen=True)
class Missed:
    """What no file has.

    Attributes:
        kind: of the file that would have it.
        row: its row; "" for a part of a file that is no row.
        task: of a row of gpu_table.py.
        aligner: likewise.
    """

    kind: str
    row: str
    task: str = ""
    aligner: str = OURS


class Results:
    """All files of a folder of results.

    Attributes:
        used: files that something was taken from.
        missed: what was looked for and is in none.
    """

    def __init__(self, folder: Path = RESULTS) -> None:
        self._files = newest(folder)
        self._reports: dict[Path, Report] = {}
        self.used: list[Path] = []
        self.missed: list[Missed] = []

    def reports(self, kind: str) -> list[tuple[Path, Report]]:
        """Files of a kind, newest first."""
        for path in self._files.get(kind, []):
            if path not in self._reports:
                self._reports[path] = json.loads(path.read_text())
        return [(path, self._reports[path]) for path in self._files.get(kind, [])]

    def row(self, kind: str, name: str, accept: Callable[[Report], bool] = bool) -> Report | None:
        """The newest row of such a name that will do."""
        for path, report in self.reports(kind):
            for row in report["rows"]:
                if row.get("name", row.get("row")) == name and accept(row):
                    self._use(path)
                    return dict(row)
        self.missed.append(Missed(kind, name))
        return None

    def pairs(self, row: str, task: str, aligner: str = OURS) -> Timing | None:
        """The best setting of an aligner at a row of gpu_table.py."""
        for path, report in self.reports("gpu-table"):
            for cell in report["cells"]:
                found = [t for t in cell["timings"] if t["aligner"] == aligner]
                if cell["row"] == row and cell["task"] == task and found:
                    self._use(path)
                    best = min(found, key=lambda t: float(t["best_seconds"]))
                    stages = cell.get("counts", {}).get("seconds", {}) if aligner == OURS else {}
                    count = report["workload"]["rows"][row]["pairs"]
                    return Timing(best["best_seconds"], count, best.get("equal_share"), stages)
        if self.unable(row, task, aligner) == MISSING:
            self.missed.append(Missed("gpu-table", row, task, aligner))
        return None

    def unable(self, row: str, task: str, aligner: str) -> str:
        """Why an aligner can have no time at a row, in words; MISSING where nothing is known against it."""
        for _, report in self.reports("gpu-table"):
            for cell in report["cells"]:
                why = str(cell["not_run"].get(aligner, "")) if cell["row"] == row and cell["task"] == task else ""
                if why.startswith(("over ", "about ", "memory")):
                    return why
        return MISSING

    def whole(self, kind: str, having: str) -> Report | None:
        """The newest file of a kind that has something called `having`."""
        for path, report in self.reports(kind):
            if having in report:
                self._use(path)
                return report
        self.missed.append(Missed(kind, ""))
        return None

    def _use(self, path: Path) -> None:
        if path not in self.used:
            self.used.append(path)

    def titled(self, title: str) -> str:
        """A plot's title with the GPUs that ours are from."""
        cards = dict.fromkeys(filter(None, (card(self._reports[path]) for path in self.used)))
        return f"{title}; here: {', '.join(cards)}" if cards else title

    def devices(self) -> list[str]:
        """Where the files that were used so far are from, in words: machine, day, commit."""
        return [_device(path, self._reports[path]) for path in self.used]


def _device(path: Path, report: dict[str, Any]) -> str:
    commit = report.get("commit", "")
    return f"[{path.name}](../bench/results/{path.name}): {machine(report)}, {report['date']}, `{commit}`"
