"""Scored alignment on a GPU: pairs of uneven lengths and every build of its kernels, compared with the CPU engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from wfacli.config import Limits
from wfacli.core.batch import PartialResult
from wfacli.core.route import Route
from wfacli.engines.extend_cpu import KERNEL, ExtendEngine
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.gpu.kernels import sw, sw_guided
from wfacli.gpu.runtime.driver import Driver
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

from .inputs import Pair, copied

SEED = 75
NUCLEOTIDES, RESIDUES = b"ACGTN", b"ARNDCQEGHILKMFPSTWYVX"
# Lengths around the ends of lanes, of stripes of 64 to 512 columns, and of 64 steps between two states.
EDGES = (1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 700)
_MEMORY = 3 << 30  # bytes


def uneven(seed: int, lengths: Iterable[int], alphabet: bytes) -> list[Pair]:
    """Return targets of these lengths, each with a query that has a noisy part of it between unrelated symbols."""
    rng, symbols = np.random.default_rng(seed), np.frombuffer(alphabet, np.uint8)
    pairs = []
    for length in lengths:
        target = symbols[rng.integers(0, len(symbols), length)]
        begin, end = np.sort(rng.integers(0, length + 1, 2))
        around = [symbols[rng.integers(0, len(symbols), rng.integers(0, 40))] for _ in range(2)]
        query = np.concatenate([around[0], copied(rng, target[begin:end], rng.choice((0.0, 0.1, 0.3))), around[1]])
        pairs.append((query.tobytes() or alphabet[:1], target.tobytes()))
    return pairs


def answer(result: PartialResult, at: int) -> tuple[object, ...]:
    """Return a row's answer."""
    runs = result.cigar[result.cigar_start[at] : result.cigar_start[at + 1]]
    return int(result.status[at]), int(result.score[at]), result.span[at].tolist(), runs.tolist()


def wrong_pairs(open_driver: Callable[[], Driver], score_only: bool) -> Iterator[str]:
    """Yield the wrong answers of every build."""
    cases = (
        (Scheme.parse("2,4,4,2"), uneven(SEED, EDGES * 3, NUCLEOTIDES)),
        (
            Scheme.parse("1,4,6,1"),
            uneven(SEED + 2, EDGES, NUCLEOTIDES),
        ),  # directions are not stored as digits
        (Scheme.parse("1,19,3,1"), uneven(SEED + 3, EDGES, NUCLEOTIDES)),  # a mismatch costs more than two gaps
        (Scheme.of_matrix("BLOSUM62"), uneven(SEED + 1, EDGES, RESIDUES)),
        (Scheme.parse("127,4,4,2"), [(b"ACGT" * 140, b"ACGT" * 140), (b"ACGT", b"AGT")]),  # exceeds 16 bits
    )
    for mode in ExtendMode:
        for scheme, pairs in cases:
            yield from _wrong(open_driver, ExtendSpec(scheme, mode, score_only), pairs)
    for scheme, pairs in cases if score_only else ():
        yield from _wrong_guided(open_driver, scheme, pairs)


def _wrong_guided(open_driver: Callable[[], Driver], scheme: Scheme, pairs: list[Pair]) -> Iterator[str]:
    """Yield the wrong answers of extensions in bands with a Z-drop."""
    batch = pairs_of(*zip(*pairs, strict=True))
    route = Route(np.arange(len(pairs), dtype=np.int32), KERNEL)
    for band, zdrop in ((5, 0), (100, 60), (300, 20), (0, 90)):
        spec = ExtendSpec(scheme, ExtendMode.EXTENSION, score_only=True, band=band, zdrop=zdrop)
        cpu = ExtendEngine(spec, Limits(), 1)
        engine = ExtendGpuEngine(spec, cpu, open_driver, memory=_MEMORY)
        try:
            wanted = cpu.collect(cpu.submit(batch, route))
            for build in sw_guided.BUILDS:
                engine.guided = (build,)
                found = engine.collect(engine.submit(batch, route))
                for at in range(len(pairs)):
                    said, right = ((*answer(one, at), int(one.cut[at])) for one in (found, wanted))
                    if said != right:
                        yield f"{build} {scheme.name} {band} {zdrop}: pair {at} {pairs[at]}: {said}, not {right}"
            if failure := engine.stats()["failure"]:
                yield f"{build} {band} {zdrop}: {failure}"
        finally:
            engine.close()


def _wrong(open_driver: Callable[[], Driver], spec: ExtendSpec, pairs: list[Pair]) -> Iterator[str]:
    batch = pairs_of(*zip(*pairs, strict=True))
    route = Route(np.arange(len(pairs), dtype=np.int32), KERNEL)
    cpu = ExtendEngine(spec, Limits(), 1)
    engine = ExtendGpuEngine(spec, cpu, open_driver, memory=_MEMORY)
    try:
        wanted = cpu.collect(cpu.submit(batch, route))
        for build in (*sw.BUILDS, *sw.ALL_DIRECTIONS, sw.WIDE):
            engine.builds = (build,)
            found = engine.collect(engine.submit(batch, route))
            for at in range(len(pairs)):
                if answer(found, at) != answer(wanted, at):
                    yield (
                        f"{build} {spec.scheme.name} {spec.mode}: pair {at} {pairs[at]}: {answer(found, at)}, "
                        f"not {answer(wanted, at)}"
                    )
        if failure := engine.stats()["failure"]:
            yield f"{build} {spec.mode}: {failure}"
    finally:
        engine.close()
