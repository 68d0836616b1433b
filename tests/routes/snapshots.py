"""Route snapshots: the kernels, rows, cuts and bands that a planner chooses, at first and after each status.

`python -m tests.routes.snapshots` rewrites the file of expected decisions; `python -m tests.routes.snapshots FILE ...`
prints the decisions for sequences in pairs of files (NAME.query.fa.gz, NAME.target.fa.gz).
"""

from __future__ import annotations

import gzip
import itertools
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.engines.agreement import SCHEMES, spec_for
from wfacli.config import AlignSpec, Ambiguous, FreeEnds, Heuristics, Limits, Mode
from wfacli.core.batch import PairBatch, Status
from wfacli.core.route import Route
from wfacli.io.read.memory import pairs_of
from wfacli.plan import forecast
from wfacli.plan.planner import Planner

EXPECTED = Path(__file__).with_name("expected.tsv.gz")
_FAILURES = (Status.SCORE_LIMIT, Status.MEMORY_LIMIT, Status.WORK_LIMIT, Status.UNSUPPORTED)
# (pairs, minimum and maximum length, edits per base, maximum shortening of queries, share of pairs with N)
BATCHES = (
    (1, 100, 100, 0.02, 0, 0.0),
    (3, 5000, 20_000, 0.1, 0.02, 0.0),
    (40, 150, 150, 0.01, 0, 0.0),
    (300, 100, 250, 0.03, 0.05, 0.1),
    (5000, 150, 150, 0.005, 0, 0.0),
    (3000, 100, 300, 0.2, 0.3, 0.02),
    (2000, 20, 600, 0.08, 0.1, 0.0),
    (400, 1000, 1000, 0.02, 0, 0.0),
    (300, 1000, 9000, 0.12, 0.02, 0.2),
    (60, 10_000, 12_000, 0.05, 0, 0.0),
    (12, 30_000, 60_000, 0.15, 0.01, 0.0),
    (5, 200, 100_000, 0.3, 0.5, 0.0),
    (300, 200, 3000, 0.6, 0.9, 0.0),
)


def specifications() -> Iterator[AlignSpec]:
    """Yield specifications with various costs, spans, heuristics, limits and rules."""
    for scheme in SCHEMES:
        yield spec_for(scheme)
        yield spec_for(scheme, score_only=True)
        yield spec_for(scheme, Mode.SEMIGLOBAL)
        if not scheme[2]:
            yield spec_for(scheme, max_cost=300)
            yield spec_for(scheme, ambiguous=Ambiguous.WILDCARD)
    for scheme, mode in itertools.product((SCHEMES[5], SCHEMES[9], SCHEMES[13]), (Mode.OVERLAP, Mode.EXTENSION)):
        yield spec_for(scheme, mode)
    for free in (FreeEnds(5, 0, 0, 5), FreeEnds(0, 0, 100, 100), FreeEnds(1000, 1000, 0, 0)):
        for scheme in (SCHEMES[0], SCHEMES[6]):
            yield spec_for(scheme, Mode.ENDS_FREE, free)
    yield from (spec_for(scheme, heuristics=Heuristics(band=64)) for scheme in (SCHEMES[6], SCHEMES[12]))
    for heuristics in (Heuristics(xdrop=50), Heuristics(zdrop=200)):
        yield spec_for(SCHEMES[9], Mode.EXTENSION, heuristics=heuristics)
    yield spec_for((SCHEMES[6][0], (400, 6000, 20), 0))
    yield spec_for((SCHEMES[6][0], (9973, 9967, 9949), 0))


def batch(number: int) -> PairBatch:
    """Return a batch of BATCHES with random sequences."""
    count, shortest, longest, error, more, with_n = BATCHES[number]
    rng = np.random.default_rng(number)
    queries, targets = [], []
    for row in range(count):
        target = rng.choice(np.frombuffer(b"ACGT", np.uint8), rng.integers(shortest, longest + 1))
        own = error * rng.choice([0.2, 1.0, 1.0, 1.5])
        kept = rng.random(len(target)) >= own / 2
        query = np.where(rng.random(len(target)) < own / 2, rng.permutation(target), target)[kept]
        if more:
            query = query[: max(len(query) - int(more * rng.random() * len(query)), 1)]
        if rng.random() < with_n:
            target[rng.integers(len(target))] = ord("N")
        pair = (query.tobytes(), target.tobytes())
        queries.append(pair[row % 2])
        targets.append(pair[1 - row % 2])
    return pairs_of(queries, targets)


def decisions(pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool) -> Iterator[str]:
    """Yield a line for each first route of a batch, and for each retry after the failure of some rows."""
    planner = Planner(spec, limits, gpus=int(gpu))
    plan = planner.plan(pairs)
    pairs, waiting = plan.pairs, [(0, found) for found in plan.routes]
    while waiting:
        depth, done = waiting.pop(0)
        yield f"{'>' * depth}{_told(done)}"
        if depth == 3:
            continue
        for failure in _FAILURES:
            status = np.zeros(len(done.rows), np.uint8)
            status[:: 7 if len(done.rows) > 20 else 1] = failure
            following = planner.further(done, status, done.rows, pairs)
            if following and (depth == 0 or failure is not Status.UNSUPPORTED):
                waiting += [(depth + 1, found) for found in following]


def _told(found: Route) -> str:
    crc = zlib.crc32(np.asarray(found.rows, np.int32).tobytes())
    bands = "" if found.bands is None else f" bands {zlib.crc32(np.asarray(found.bands, np.int32).tobytes()):08x}"
    again = " again" if found.again else ""
    return f"{found.kernel}({found.cut}) {len(found.rows)} {crc:08x}{bands}{again}"


def lines(batches: Sequence[tuple[str, PairBatch]], specs: Sequence[AlignSpec]) -> Iterator[str]:
    """Yield batch, specification, GPU or not, and decisions, by the models for AVX-512 on any machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forecast, "instruction_set", lambda: "x86-64-v4")
        forecast.forecaster.cache_clear()
        for (name, pairs), (number, spec), gpu in itertools.product(batches, enumerate(specs), (False, True)):
            limits = Limits(table=1 << 18) if number % 5 == 4 else Limits()
            yield "\t".join(
                [name, str(number), "gpu" if gpu else "cpu", "; ".join(decisions(pairs, spec, limits, gpu))]
            )
    forecast.forecaster.cache_clear()


def simulated() -> list[tuple[str, PairBatch]]:
    """Return all simulated batches."""
    return [(f"simulated-{number}", batch(number)) for number in range(len(BATCHES))]


def main() -> None:
    """Write the expected decisions, or print those for files."""
    specs = list(specifications())
    if not sys.argv[1:]:
        text = "".join(f"{line}\n" for line in lines(simulated(), specs))
        EXPECTED.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        return
    for path in sys.argv[1:]:
        sides = [_sequences(Path(path.replace(".query.", f".{side}."))) for side in ("query", "target")]
        for line in lines([(Path(path).name, pairs_of(*sides))], specs):
            print(line)


def _sequences(path: Path) -> list[bytes]:
    records = gzip.decompress(path.read_bytes()).split(b">")[1:2001]
    return [record.partition(b"\n")[2].replace(b"\n", b"").replace(b"\r", b"") for record in records]


if __name__ == "__main__":
    main()
