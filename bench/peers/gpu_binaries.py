"""Peers that are programs: how each is called, and how its output is read.

Times are those that a program prints. A program that prints several repeats of one process (a warm-up among them) is
started less often.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .contest import Task
from .gpu_work import HEAD, Files
from .verdict import Costs

_EWFA_MOST = 63  # edits; above it its results are wrong
_WFA_GPU_LONGEST = 32_767  # bases
_SLACK = 8  # added to the maximum known cost


class Failed(Exception):
    """A program without a result; the message says why."""


@dataclass(frozen=True)
class Job:
    """A request to a program.

    Attributes:
        files: the row's pairs.
        pairs: number of pairs.
        longest: bases of the longest sequence.
        greatest: maximum cost of a pair, by our alignments.
        task: what to do.
        repeats: number of repeats wanted.
        patience: seconds that a process may take.
        scratch: folder for its output.
    """

    files: Files
    pairs: int
    longest: int
    greatest: int
    task: Task
    repeats: int
    patience: float
    scratch: Path


@dataclass
class Answer:
    """Seconds of each repeat, and costs of the first pairs (i32, -1 for none)."""

    seconds: list[float]
    costs: Costs | None


@dataclass(frozen=True)
class Tool:
    """A program.

    Attributes:
        name: in a table.
        what: what its time includes, for readers of a result.
        metrics: metrics that it supports.
        scores: True if it can compute scores alone.
        limit: returns why it cannot do a job, or "".
        settings: settings to try.
        run: runs it under one setting. Raises Failed.
    """

    name: str
    what: str
    metrics: tuple[str, ...]
    scores: bool
    limit: Callable[[Job], str]
    settings: tuple[str, ...]
    run: Callable[[Job, str], Answer]


def wfa_gpu(program: Path) -> Tool:
    """Return WFA-GPU's wfa.affine.gpu."""

    def run(job: Job, setting: str) -> Answer:
        found = job.scratch / "wfa-gpu.out"
        command = [str(program), "-i", str(job.files.seq), "-g", "4,6,2", "-e", str(job.greatest + _SLACK)]
        command += ["-b", str(max(1, -(-job.pairs // int(setting.split()[0]))))]
        command += [] if job.task.score_only else ["-x"]
        seconds = wfa_gpu_seconds(_called([*command, "-o", str(found)], job.patience))
        with found.open("rb") as file:
            costs = wfa_gpu_costs(file)
        found.unlink()
        return _repeated(Answer(seconds, costs), job, lambda: wfa_gpu_seconds(_called(command, job.patience)))

    def limit(job: Job) -> str:
        return "over 32,767 bp" if job.longest > _WFA_GPU_LONGEST else ""

    what = (
        "the time printed for its alignment: memory on GPU and host allocated and freed, copies, packing, kernels,"
        " CIGARs as text; -e is the greatest cost of the row, so that no pair goes to the CPU"
    )
    return Tool("wfa-gpu", what, ("affine",), True, limit, ("5 batches", "20 batches"), run)


def wfa_gpu_seconds(text: str) -> list[float]:
    """Return the seconds in its output."""
    return [float(s) for s in re.findall(r"Alignment computed\. Wall time: ([0-9.]+)s", text)]


def wfa_gpu_costs(lines: Iterable[bytes]) -> Costs:
    """Return the costs in its output file, whose lines have minus the cost, a tab, the CIGAR."""
    return np.array([-int(line.split(b"\t", 1)[0]) for line in lines], np.int32)


def ewfa_gpu(program: Path) -> Tool:
    """Return eWFA-GPU's wfe.aligner."""

    def run(job: Job, setting: str) -> Answer:
        threads, batches = (int(word) for word in setting.split()[::2])
        command = [str(program), "-f", str(job.files.seq), "-n", str(job.pairs), "-l", str(job.longest)]
        command += ["-t", str(threads), "-b", str(max(1, job.pairs // threads // batches))]
        answer = _repeated(Answer([], None), job, lambda: ewfa_gpu_seconds(_called(command, job.patience)))
        found = job.scratch / "ewfa-gpu.out"
        with found.open("wb") as file:
            subprocess.run([*command, "-p"], stdout=file, stderr=subprocess.DEVNULL, check=False)
        with found.open("rb") as file:
            answer.costs = ewfa_gpu_costs(file, job.pairs)
        found.unlink()
        return answer

    def limit(job: Job) -> str:
        return f"over {_EWFA_MOST} edits" if job.greatest > _EWFA_MOST else ""

    what = "the time printed for its alignment: memory allocated and freed, copies, packing, kernels, CIGARs"
    settings = ("1 thread, 4 batches", "4 threads, 8 batches")
    return Tool("ewfa-gpu", what, ("edit",), False, limit, settings, run)


def ewfa_gpu_seconds(text: str) -> list[float]:
    """Return the seconds in its output."""
    return [float(s) for s in re.findall(r"Aligned executed\. Wall time ([0-9.]+)s", text)]


def ewfa_gpu_costs(lines: Iterable[bytes], pairs: int) -> Costs:
    """Return costs from its CIGARs, in any order: number of the pair, a colon, operations except match counts."""
    costs = np.full(pairs, -1, np.int32)
    for line in lines:
        number, _, cigar = line.partition(b": ")
        if number.isdigit() and int(number) < pairs:
            costs[int(number)] = cigar.count(b"X") + cigar.count(b"I") + cigar.count(b"D")
    return costs


def gasal2(programs: dict[int, Path]) -> Tool:
    """Return GASAL2's test_prog.out, with a program for each length that it was compiled for."""

    def fitting(job: Job) -> Path | None:
        return next((programs[length] for length in sorted(programs) if job.longest <= length - 8), None)

    def run(job: Job, setting: str) -> Answer:
        options = ["-a", "0", "-b", "4", "-q", "6", "-r", "2", "-y", "global", "-n", setting.split()[0]]
        command = [str(fitting(job)), *options, *([] if job.task.score_only else ["-t"])]
        every, first = ([str(path) for path in paths] for paths in (job.files.fasta, job.files.head))
        answer = _repeated(Answer([], None), job, lambda: gasal2_seconds(_called([*command, *every], job.patience)))
        printed = _called([*command, "-p", *first], job.patience)
        answer.costs = gasal2_costs(printed.encode().splitlines(), min(job.pairs, HEAD))
        return answer

    def limit(job: Job) -> str:
        return "" if fitting(job) else f"over {max(programs) - 8:,} bp"

    what = (
        "the time printed for its alignment: filling of its buffers, copies, packing, kernels, CIGARs; every cell of"
        f" the matrix; costs compared on the first {HEAD:,} pairs"
    )
    return Tool("gasal2", what, ("affine",), True, limit, ("8 threads",), run)


def gasal2_seconds(text: str) -> list[float]:
    """Return the seconds in its output."""
    return [float(ms) / 1000 for ms in re.findall(r"Total execution time \(in milliseconds\): ([0-9.]+)", text)]


def gasal2_costs(lines: Iterable[bytes], pairs: int) -> Costs:
    """Return the costs in its output, in any order: query_name=NUMBER, …, score=SCORE."""
    costs = np.full(pairs, -1, np.int32)
    for line in lines:
        found = re.match(rb"query_name=>?(\d+)\b.*\bscore=(-?\d+)", line)
        if found and int(found[1]) < pairs:
            costs[int(found[1])] = -int(found[2])
    return costs


def _repeated(answer: Answer, job: Job, again: Callable[[], list[float]]) -> Answer:
    """Repeat until there are as many times as wanted, or they take too long."""
    while len(answer.seconds) < job.repeats and sum(answer.seconds) < job.patience:
        more = again()
        if not more:
            raise Failed("it printed no time")
        answer.seconds += more
    return answer


def _called(command: list[str], patience: float) -> str:
    """Return the output of a program. Raises Failed."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"over {patience:.0f} s") from None
    except OSError as error:
        raise Failed(str(error)) from None
    text = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != 0:
        said = [line.strip() for line in text.splitlines() if line.strip()]
        blamed = [line for line in said if "rror" in line or "ailed" in line]
        raise Failed((blamed or said or [f"exit status {done.returncode}"])[-1][:160])
    return text
