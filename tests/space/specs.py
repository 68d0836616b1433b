"""Random specifications from the whole option space, without heuristics."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from random import Random

from wfacli.config import MAX_PENALTY, WHOLE, AlignSpec, Ambiguous, FreeEnds, Metric, Mode, Penalties
from wfacli.errors import UsageError

# Blocks rotate through the strata in this order, so that every combination is drawn equally often.
STRATA = tuple(itertools.product(Mode, Metric))
_EDGES = (1, 2, 3, 63, 64, 127, 128, 255, 256, 1000, 7087, 9973, 9999, MAX_PENALTY)


def cost(rng: Random, least: int = 1, largest: int = MAX_PENALTY) -> int:
    """Draw a cost: mostly small, rarely of any size, rarely at the limit of a type or of the range."""
    kind = rng.random()
    if kind < 0.5:
        drawn = rng.randint(1, 6)
    elif kind < 0.75:
        drawn = rng.randint(1, 60)
    elif kind < 0.88:
        drawn = int(largest ** rng.random())
    else:
        drawn = rng.choice(_EDGES)
    return max(least, min(drawn, largest))


def opening(rng: Random) -> int:
    """Draw a gap opening, often 0."""
    return 0 if rng.random() < 0.3 else cost(rng, 0)


def _pieces(rng: Random) -> tuple[int, int, int, int]:
    """Draw two gap pieces; the kind is the relation of the second piece to the first."""
    o, e = opening(rng), cost(rng)
    kind = rng.choice(
        ("usual", "usual", "cross", "cross", "cross", "any", "never", "always", "equal", "no opening", "falling")
    )
    if kind == "usual":  # typical of read aligners
        return rng.randint(4, 24), rng.randint(2, 4), rng.randint(6, 60), rng.randint(1, 2)
    if kind == "cross":  # cheaper from some length on, mostly within reach
        smaller = max(1, rng.choice((e - 1, rng.randint(1, e))))
        return o, e, min(o + (e - smaller) * rng.randint(0, 12) + rng.randint(0, 3), MAX_PENALTY), smaller
    if kind == "never":
        return o, e, min(o + cost(rng, 0), MAX_PENALTY), min(e + cost(rng, 0), MAX_PENALTY)
    if kind == "always":
        return o, e, rng.randint(0, o), rng.randint(1, e)
    if kind == "equal":
        return o, e, o, e
    if kind == "no opening":
        return 0, e, 0, cost(rng)
    if kind == "falling":  # without an opening, so cheaper for short gaps
        return o, e, 0, min(e + rng.randint(0, 9), MAX_PENALTY)
    return o, e, opening(rng), cost(rng)


def _near(rng: Random, count: int) -> tuple[int, ...]:
    """Return mismatch and extension costs that are nearly equal, and openings that are small beside them."""
    size, apart = cost(rng, 1, MAX_PENALTY - 8), rng.choice((1, 1, 2, 5))

    def near() -> int:
        return max(1, size + rng.randint(-apart, apart))

    def small() -> int:
        return rng.choice((0, rng.randint(0, apart), rng.randint(0, size)))

    if count == 2:
        return near(), near()
    return tuple(small() if at % 2 else near() for at in range(count))


def _alike(rng: Random, values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the costs unchanged, with a common divisor, or (nearly) equal, so that many alignments compete."""
    kind = rng.random()
    if kind > 0.65:
        return _near(rng, len(values))
    if kind < 0.15:
        by = rng.choice((2, 3, 4, 10, 100))
        if max(values) * by <= MAX_PENALTY:
            return tuple(value * by for value in values)
    if kind < 0.25:
        return tuple(value and values[0] for value in values)
    return values


def penalties(rng: Random, metric: Metric, match: int) -> Penalties:
    """Draw the penalties of a metric."""
    if metric in (Metric.EDIT, Metric.INDEL):
        return Penalties.of(metric, None, match)
    if metric is Metric.LINEAR:
        values: tuple[int, ...] = (cost(rng), cost(rng))
    elif metric is Metric.AFFINE:
        values = (cost(rng), opening(rng), cost(rng))
    else:
        values = (cost(rng), *_pieces(rng))
    return Penalties.of(metric, _alike(rng, values), match)


def with_ambiguous(rng: Random, costs: Penalties) -> Penalties:
    """Add a penalty of ambiguous bases: often 0, 1, or nearly that of a mismatch."""
    most = costs.mismatch
    drawn = rng.choice((0, 1, most - 1, most, most // 2, rng.randint(0, most)))
    return dataclasses.replace(costs, ambiguous=max(0, drawn))


def free_ends(rng: Random, longest: int) -> FreeEnds:
    """Draw free ends for pairs of up to `longest` bases."""

    def limit() -> int:
        return rng.choice((0, 0, 0, 1, rng.randint(1, 5), rng.randint(0, longest + 2), longest, WHOLE, WHOLE))

    kind = rng.random()
    if kind < 0.45:  # target ends only, which have their own kernels
        return FreeEnds(0, 0, limit(), limit())
    if kind < 0.55:
        return FreeEnds(limit(), limit(), 0, 0)
    return FreeEnds(limit(), limit(), limit(), limit())


def spec(rng: Random, mode: Mode, metric: Metric, longest: int) -> AlignSpec:
    """Draw a specification with CIGARs and without a maximum cost, for pairs of up to `longest` bases."""
    needed = mode in (Mode.OVERLAP, Mode.EXTENSION)
    match = cost(rng) if needed or rng.random() < (0.4 if mode is Mode.GLOBAL else 0.25) else 0
    free = free_ends(rng, longest) if mode is Mode.ENDS_FREE else FreeEnds.of(mode)
    rule = rng.choice((Ambiguous.MISMATCH, Ambiguous.MISMATCH, *Ambiguous))
    costs = penalties(rng, metric, match)
    if rule is Ambiguous.MISMATCH and metric not in (Metric.EDIT, Metric.INDEL) and rng.random() < 0.4:
        costs = with_ambiguous(rng, costs)
    return AlignSpec(metric, costs, rule, mode, free)


def spec_of(
    metric: str,
    values: Sequence[int] | None = None,
    match: int = 0,
    mode: str = "global",
    free: tuple[int, int, int, int] | None = None,
    rule: str = "mismatch",
    score_only: bool = False,
    max_cost: int | None = None,
    n_penalty: int | None = None,
) -> AlignSpec:
    """Build a specification from plain values, in the format of `written`."""
    costs = dataclasses.replace(Penalties.of(Metric(metric), values, match), ambiguous=n_penalty)
    ends = FreeEnds.of(Mode(mode)) if free is None else FreeEnds(*free)
    return AlignSpec(
        Metric(metric), costs, Ambiguous(rule), Mode(mode), ends, score_only=score_only, max_cost=max_cost
    )


def written(spec: AlignSpec) -> str:
    """Return the source of a `spec_of` call that builds the specification."""
    p = spec.penalties
    words = [repr(str(spec.metric))]
    if spec.metric not in (Metric.EDIT, Metric.INDEL):
        gaps = p.gaps[0][1:] if spec.metric is Metric.LINEAR else tuple(itertools.chain(*p.gaps))
        words.append(repr((p.mismatch, *gaps)))
    changed = {"match": p.match, "mode": str(spec.mode), "rule": str(spec.ambiguous)}
    changed |= {"score_only": spec.score_only, "max_cost": spec.max_cost, "n_penalty": p.ambiguous}
    if spec.mode is Mode.ENDS_FREE:
        changed["free"] = spec.free.as_tuple()
    usual = {"match": 0, "mode": "global", "rule": "mismatch", "score_only": False}
    usual |= {"max_cost": None, "n_penalty": None}
    words += [f"{name}={value!r}" for name, value in changed.items() if name not in usual or value != usual[name]]
    return f"spec_of({', '.join(words)})"


def simpler(spec: AlignSpec) -> list[AlignSpec]:
    """Return specifications that are one step simpler, the simplest first."""
    found: list[AlignSpec] = []

    def add(**changes: object) -> None:
        try:
            found.append(dataclasses.replace(spec, **changes))  # type: ignore[arg-type]
        except UsageError:
            return

    if spec.score_only:
        add(score_only=False)
    if spec.max_cost is not None:
        add(max_cost=None)
    if spec.ambiguous is not Ambiguous.MISMATCH:
        add(ambiguous=Ambiguous.MISMATCH)
    if spec.penalties.ambiguous is not None:
        for less in (None, *_smaller(spec.penalties.ambiguous, 0)):
            add(penalties=dataclasses.replace(spec.penalties, ambiguous=less))
    for at, limit in enumerate(spec.free.as_tuple()):
        for less in _smaller(limit, 0) if spec.mode is Mode.ENDS_FREE else ():
            limits = list(spec.free.as_tuple())
            limits[at] = less
            add(free=FreeEnds(*limits))
    p = spec.penalties
    fixed = spec.metric in (Metric.EDIT, Metric.INDEL)
    values = [p.match] if fixed else [p.match, p.mismatch, *itertools.chain(*p.gaps)]
    for at, value in enumerate(values):
        least = 0 if at == 0 or (at >= 2 and at % 2 == 0 and spec.metric is not Metric.LINEAR) else 1
        for less in _smaller(value, least):
            changed = [*values[:at], less, *values[at + 1 :]]
            if fixed:
                add(penalties=Penalties.of(spec.metric, None, changed[0]))
            else:
                pieces = tuple(zip(changed[2::2], changed[3::2], strict=True))
                charge = None if p.ambiguous is None else min(p.ambiguous, changed[1])
                add(penalties=Penalties(changed[1], pieces, changed[0], charge))
    return found


def _smaller(value: int, least: int) -> list[int]:
    tried = (least, least + 1, value // 10, value // 2, value - 1)
    return sorted({less for less in tried if least <= less < value})
