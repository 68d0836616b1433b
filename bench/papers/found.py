"""The content of bench/results for a cell of a paper's table, from the newest file that has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pages.results import RESULTS, gpu_name, machine, newest
from bench.pages.text import Report

OURS = "wfacli"
MISSING = "not measured"
NO_PEER, NO_SET = "not run", "no set"


@dataclass(frozen=True)
class Timing:
    """One aligner on one row and task.

    Attributes:
        seconds: of the best repeat.
        pairs: number of aligned pairs.
        right: share of right costs; None if costs were not compared.
        stages: thread-seconds of one run by stage and kernel; only of ours.
    """

    seconds: float
    pairs: int
    right: float | None
    stages: dict[str, float]

    def for_pairs(self, count: int) -> float:
        """Return the seconds for `count` pairs at this rate."""
        return self.seconds * count / self.pairs


@dataclass(frozen=True)
class Missed:
    """Something that no file has.

    Attributes:
        kind: kind of file that would have it.
        row: its row; "" for a part of a file that is not a row.
        task: task, for a row of gpu_table.
        aligner: aligner, for a row of gpu_table.
    """

    kind: str
    row: str
    task: str = ""
    aligner: str = OURS


class Results:
    """All files of a folder of results.

    Attributes:
        used: files from which something was taken.
        missed: what no file has.
    """

    def __init__(self, folder: Path = RESULTS) -> None:
        self._files = newest(folder)
        self._reports: dict[Path, Report] = {}
        self.used: list[Path] = []
        self.missed: list[Missed] = []

    def reports(self, kind: str) -> list[tuple[Path, Report]]:
        """Return the files of a kind, newest first."""
        for path in self._files.get(kind, []):
            if path not in self._reports:
                self._reports[path] = json.loads(path.read_text())
        return [(path, self._reports[path]) for path in self._files.get(kind, [])]

    def row(self, kind: str, name: str, accept: Callable[[Report], bool] = bool) -> Report | None:
        """Return the newest row with this name that `accept` accepts."""
        for path, report in self.reports(kind):
            for row in report["rows"]:
                if row.get("name", row.get("row")) == name and accept(row):
                    self._use(path)
                    return dict(row)
        self.missed.append(Missed(kind, name))
        return None

    def pairs(self, row: str, task: str, aligner: str = OURS) -> Timing | None:
        """Return an aligner's best setting on a row of gpu_table."""
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
        """Return why an aligner cannot have a time on a row; MISSING if no reason is known."""
        for _, report in self.reports("gpu-table"):
            for cell in report["cells"]:
                why = str(cell["not_run"].get(aligner, "")) if cell["row"] == row and cell["task"] == task else ""
                if why.startswith(("over ", "about ", "memory")):
                    return why
        return MISSING

    def whole(self, kind: str, having: str) -> Report | None:
        """Return the newest file of a kind with the key `having`."""
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
        """Return a plot's title with the GPUs that our numbers are from."""
        gpus = dict.fromkeys(filter(None, (gpu_name(self._reports[path]) for path in self.used)))
        return f"{title}; here: {', '.join(gpus)}" if gpus else title

    def devices(self) -> list[str]:
        """Return the origin of the files used so far: machine, day, commit."""
        return [_device(path, self._reports[path]) for path in self.used]


def _device(path: Path, report: dict[str, Any]) -> str:
    commit = report.get("commit", "")
    return f"[{path.name}](../bench/results/{path.name}): {machine(report)}, {report['date']}, `{commit}`"
