"""Kill correct runs at random moments, and check what they leave behind, for every kind of output."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cli import forked
from tests.cli.support import command, environment, fasta, random_pairs, random_symbols, seq
from tests.mapped import fake_mapper
from tests.mapped.world import random_world

_MAPPED = "align reads.fq ref.fa --mappings map.paf --batch-bases 2000"
_PAIRS = "align p.seq --batch-bases 2000"
OUTPUTS: Mapping[str, str] = {
    "sam": f"{_PAIRS} -o out.sam",
    "paf": f"{_PAIRS} -o out.paf --stats stats.json",
    "tsv": f"{_PAIRS} --score-only -o out.tsv",
    "blast6": "extend p.seq --format blast6 -o out.txt",
    "bam": f"{_PAIRS} -o out.bam",
    "mapped sam": f"{_MAPPED} -o out.sam",
    "mapped paf": f"{_MAPPED} -o out.paf",
    "mapped bam": f"{_MAPPED} --sort --write-index -o out.bam",
    "mapped cram": f"{_MAPPED} -o out.cram",
    "map": "map ref.fa reads.fq -o out.sam",
    "map bam": "map ref.fa reads.fq --sort --write-index -o out.bam",
    "ungrouped": "align reads.fq ref.fa --mappings shuffled.paf -o out.sam",
    "distance": "distance a.fa b.fa --path -o out.paf",
    "checkpoint": "distance c.fa d.fa -t 1 --checkpoint state --checkpoint-every 0.05s",
    "local": "local a.fa b.fa -o out.sam",
    "dotplot": "dotplot a.fa b.fa -o out.html",
    "simulate": "simulate --pairs 20k -o out.seq",
}
_SIGNALS = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}
_END = 2  # bytes compared at the end: a newline and the character before it, or the end of an empty block
_PATIENCE = 30.0  # seconds for a run to end after a signal


def _inputs(folder: Path) -> None:
    world = random_world(11, reads=200)
    world.write(folder)
    rows = (folder / "map.paf").read_bytes().splitlines(keepends=True)
    random.Random(3).shuffle(rows)
    (folder / "shuffled.paf").write_bytes(b"".join(rows))
    fake_mapper.install(folder)
    (folder / "p.seq").write_bytes(seq(random_pairs(3_000)))
    for seed, name in enumerate("abcd"):
        (folder / f"{name}.fa").write_bytes(fasta([random_symbols(3_000 if name in "ab" else 300_000, seed)]))


@dataclass(frozen=True)
class _Good:
    """A run that is not interrupted: its output files and its time."""

    seconds: float
    files: Mapping[str, bytes]
    same: frozenset[str]  # files with the same bytes in every run


class Killer:
    """Runs commands in one folder, one at a time, and kills them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._scratch = folder / "work", folder / "scratch"
        self._folder.mkdir()
        self._scratch.mkdir()
        _inputs(self._folder)
        self._inputs = {path.name for path in self._folder.iterdir()}
        programs = f"{self._folder}/bin{os.pathsep}{os.environ['PATH']}"
        self._environment = environment(TMPDIR=str(self._scratch), PATH=programs)
        self._good: dict[str, _Good] = {}

    def good(self, kind: str) -> _Good:
        """Return the complete run of a kind of output, made on first use."""
        if kind not in self._good:
            runs = []
            for _ in range(2):
                begun = time.monotonic()
                assert self._start(kind).wait(timeout=120) == 0, kind
                runs.append((time.monotonic() - begun, self._files()))
                self._clear()
            one, other = (files for _, files in runs)
            assert set(one) == set(other), kind
            same = frozenset(name for name in one if one[name] == other[name] and not name.endswith(".cram"))
            self._good[kind] = _Good(max(seconds for seconds, _ in runs), one, same)
        return self._good[kind]

    def kill(self, kind: str, sent: signal.Signals, after: float) -> str:
        """Start a run and send it a signal; return the rule that is broken then, or ""."""
        good = self.good(kind)
        process = self._start(kind)
        time.sleep(after)
        process.send_signal(sent)
        try:
            code = process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"time: not ended {_PATIENCE:.0f} s after {sent.name}"
        self._children_end()
        problem = self._problem(good, sent, code)
        self._clear()
        return problem and f"{problem} ({kind}, {sent.name} after {after:.3f} s, status {code})"

    def points(self, kind: str) -> list[int]:
        """Return the first point at each place where a handler can run; see interruption_points.py."""
        code, err = self._run(kind, -1)
        assert code == 0, kind
        self._clear()
        return [*json.loads(err.splitlines()[-1])["first"]]

    def interrupt(self, kind: str, at: int) -> str:
        """Run a kind of output with SIGTERM at one point; return the rule that is broken then, or ""."""
        good = self.good(kind)
        try:
            code, err = self._run(kind, at)
        except subprocess.TimeoutExpired:
            return f"time: not ended {_PATIENCE:.0f} s after SIGTERM at point {at} ({kind})"
        self._children_end()
        problem = self._problem(good, signal.SIGTERM, code)
        if "Traceback" in err:
            problem = "traceback"
        self._clear()
        return problem and f"{problem} ({kind}, SIGTERM at point {at}, status {code}): {err}"

    def _run(self, kind: str, at: int) -> tuple[int, str]:
        arguments = [*OUTPUTS[kind].split(), "-q"]
        code, _, err = forked.run(arguments, self._folder, b"", None, self._environment, _PATIENCE, signal_at=at)
        return code, err.decode()

    def _problem(self, good: _Good, sent: signal.Signals, code: int) -> str:
        files = self._files()
        # The signal came before Python installed its handlers, or during interpreter shutdown.
        outside = code == -sent and set(files) in (set(), set(good.files))
        if code not in (0, _SIGNALS[sent]) and not outside:
            return "status: not that of the signal"
        if other := sorted(set(files) - set(good.files)):
            return f"file: {other} is left"
        for name, content in files.items():
            # CRAM codecs are chosen by trial, which depends on threads; its last bytes are always the same.
            if content[-_END:] != good.files[name][-_END:] or (name in good.same and content != good.files[name]):
                return f"final: {name} is not whole"
        if code == 0 and set(files) != set(good.files):
            return "final: not all files are there"
        some, until = self._left(), time.monotonic() + _PATIENCE
        while some and time.monotonic() < until:  # folders are removed once the run is seen to have ended
            time.sleep(0.05)
            some = self._left()
        return f"scratch: {some} in TMPDIR" if some else ""

    def _left(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):  # it is being removed
            return sorted(str(path.relative_to(self._scratch)) for path in self._scratch.rglob("*"))
        return ["something"]

    def _start(self, kind: str) -> subprocess.Popen[bytes]:
        arguments = [*command(), *OUTPUTS[kind].split(), "-q"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(arguments, cwd=self._folder, env=self._environment, **quiet)

    def _files(self) -> dict[str, bytes]:
        """Return the files with a final name, without the inputs."""
        names = {path.name for path in self._folder.iterdir()} - self._inputs - _OWN
        return {n: (self._folder / n).read_bytes() for n in names if ".partial-" not in n and ".new-" not in n}

    def _children_end(self) -> None:
        """Wait for remaining child processes, which notice that the run has ended and end too."""
        ours, until = str(self._folder), time.monotonic() + 10
        while time.monotonic() < until and any(_folder_of(path) == ours for path in Path("/proc").glob("[0-9]*")):
            time.sleep(0.02)

    def _clear(self) -> None:
        for path in self._folder.iterdir():
            if path.name not in self._inputs:
                path.unlink()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(exist_ok=True)


# A checkpoint, which is complete at any time, the reference's index, and what the mapper notes.
_OWN = {"state", "ref.fa.fai", "arguments", "seen", "seen-1", "seen-2"}


def _folder_of(process: Path) -> str:
    with contextlib.suppress(OSError):
        return str((process / "cwd").readlink())
    return ""


def interrupt(seed: int, seconds: float, most: int, _found: Path) -> tuple[Counter[str], list[str]]:
    """Interrupt runs at each place where a signal's handler can run; return as kill() does."""
    rng, until, counts, problems = random.Random(seed), time.monotonic() + seconds, Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="input-fuzz-") as folder:
        killer = Killer(Path(folder))
        left = [(kind, at) for kind in OUTPUTS for at in killer.points(kind)]
        rng.shuffle(left)
        for kind, at in left[:most]:
            if time.monotonic() > until:
                break
            counts[kind] += 1
            if problem := killer.interrupt(kind, at):
                print(f"seed {seed}: {problem}", flush=True)
                problems.append(problem)
    return counts, problems


def kill(seed: int, seconds: float, most: int, _found: Path) -> tuple[Counter[str], list[str]]:
    """Kill runs at random moments; return the number per kind of output, and the findings."""
    rng, until, counts, problems = random.Random(seed), time.monotonic() + seconds, Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="input-fuzz-") as folder:
        killer = Killer(Path(folder))
        while counts.total() < most and time.monotonic() < until:
            kind = rng.choice(list(OUTPUTS))
            sent = rng.choice([signal.SIGKILL, *_SIGNALS])
            # Python's start-up takes most of a run, so kills are biased towards the work after it.
            share = rng.uniform(0, 0.5) if rng.random() < 0.2 else rng.uniform(0.5, 1.1)
            problem = killer.kill(kind, sent, share * killer.good(kind).seconds)
            counts[kind] += 1
            if problem:
                print(f"seed {seed}: {problem}", flush=True)
                problems.append(problem)
    return counts, problems
