"""Peers that are programs of their own: how each is called, and what it prints.

Times are those that a program prints of itself. One that prints several in one process (its warm-up among them) is
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

_EWFA_MOST = 63  # edits; beyond, its answers are wrong
_WFA_GPU_LONGEST = 32_767  # letters
_SLACK = 8  # of cost above the greatest that is known


class Failed(Exception):
    """A program that gave no answer; the message says why."""


@dataclass(frozen=True)
class Job:
    """What is asked of a program.

    Attributes:
        files: a row's pairs.
        pairs: how many.
        longest: letters of the longest sequence.
        greatest: the greatest cost of a pair, as we know it.
        task: what to do.
        repeats: how many times are wanted.
        patience: seconds that a process may take.
        scratch: a folder for what it writes.
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
    """Seconds of each repeat, and costs of the first so many pairs (i32, -1 where there is none)."""

    seconds: list[float]
    costs: Costs | None


@dataclass(frozen=True)
class Tool:
    """A program.

    Attributes:
        name: as in a table.
        what: what its time is, for readers of a result.
        metrics: of the tasks that it offers.
        scores: whether it has a way without paths.
        limit: why it cannot do a job, or "".
        settings: ways to call it that are tried.
        run: calls it under one of them. Raises Failed.
    """

    name: str
    what: str
    metrics: tuple[str, ...]
    scores: bool
    limit: Callable[[Job], str]
    settings: tuple[str, ...]
    run: Callable[[Job, str], Answer]


def wfa_gpu(program: Path) -> Tool:
    """WFA-GPU's wfa.affine.gpu."""

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
        "the time printed for its alignment: memory on card and host allocated and freed, copies, packing, kernels,"
        " CIGARs as text; -e is the greatest cost of the row, so that no pair goes to the CPU"
    )
    return Tool("wfa-gpu", what, ("affine",), True, limit, ("5 batches", "20 batches"), run)


def wfa_gpu_seconds(text: str) -> list[float]:
    """From what it prints."""
    return [float(s) for s in re.findall(r"Alignment computed\. Wall time: ([0-9.]+)s", text)]


def wfa_gpu_costs(lines: Iterable[bytes]) -> Costs:
    """From its output file: minus the cost, a tab, the CIGAR."""
    return np.array([-int(line.split(b"\t", 1)[0]) for line in lines], np.int32)


def ewfa_gpu(program: Path) -> Tool:
    """eWFA-GPU's wfe.aligner."""

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
    """From what it prints."""
    return [float(s) for s in re.findall(r"Aligned executed\. Wall time ([0-9.]+)s", text)]


def ewfa_gpu_costs(lines: Iterable[bytes], pairs: int) -> Costs:
    """From its CIGARs, in any order: a pair's number, a colon, operations; its counts of matches are not used."""
    costs = np.full(pairs, -1, np.int32)
    for line in lines:
        number, _, cigar = line.partition(b": ")
        if number.isdigit() and int(number) < pairs:
            costs[int(number)] = cigar.count(b"X") + cigar.count(b"I") + cigar.count(b"D")
    return costs


def gasal2(programs: dict[int, Path]) -> Tool:
    """GASAL2's test_prog.out, one for each length that it was compiled for."""

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
    """From what it prints."""
    return [float(ms) / 1000 for ms in re.findall(r"Total execution time \(in milliseconds\): ([0-9.]+)", text)]


def gasal2_costs(lines: Iterable[bytes], pairs: int) -> Costs:
    """From its answers, in any order: query_name=NUMBER, …, score=SCORE."""
    costs = np.full(pairs, -1, np.int32)
    for line in lines:
        found = re.match(rb"query_name=>?(\d+)\b.*\bscore=(-?\d+)", line)
        if found and int(found[1]) < pairs:
            costs[int(found[1])] = -int(found[2])
    return costs


def _repeated(answer: Answer, job: Job, again: Callable[[], list[float]]) -> Answer:
    """Calls again until there are as many times as wanted, or they take too long."""
    while len(answer.seconds) < job.repeats and sum(answer.seconds) < job.patience:
        more = again()
        if not more:
            raise Failed("it printed no time")
        answer.seconds += more
    return answer


def _called(command: list[str], patience: float) -> str:
    """What a program prints. Raises Failed."""
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
