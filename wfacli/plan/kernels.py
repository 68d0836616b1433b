"""The registry of kernels: what each one supports, how its expected time grows, and which kernel is its fallback.

A kernel of the CPU is a row of CPU. Those of the GPU are in gpu_kernels.py, which has the same facts of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..config import AlignSpec, Ambiguous, Limits, Mode
from ..core import tuning
from ..core.batch import Status
from ..core.route import on_gpu
from .traits import (
    CostTraits,
    free_in_query,
    free_in_target,
    is_edit,
    is_inside,
    leaves_out,
    plainly_global,
    steep_extension,
)

BITS = {f"bits-{64 * words}": words for words in (1, 2, 4, 8)}  # bit-parallel, several pairs per vector
STRIPES = "stripes"  # bit-parallel, one pair over all lanes
INSIDE = "bits-inside"  # bit-parallel, free ends of the target: locates the query, then aligns it
DIFFERENCE = "difference"  # dynamic programming on differences, in a band
READS = "difference-reads"  # the same for short pairs, several per vector
CAPPED = "wavefront-capped"  # a table that gives up where another kernel is expected to be faster
TABLE = "wavefront-table"  # all rows of the wavefront in memory
LINEAR = "wavefront-linear"  # checkpoints, between which rows are computed again
GOTOH = "gotoh"  # all cells, any costs


@dataclass(frozen=True)
class Reach:
    """Pairs that a kernel is worth a try for.

    Attributes:
        longest, edits: maximum bases of the longer sequence, and maximum edits.
        other_bases: True if bases other than A C G T may occur.
        shortest: minimum bases of the longer sequence.
    """

    longest: float = math.inf
    edits: float = math.inf
    other_bases: bool = True
    shortest: float = 0.0


@dataclass(frozen=True)
class Work:
    """What a unit of a model's time is: a sum of these factors times the terms of a pair.

    Attributes:
        longest: factor of the longer sequence's bases.
        band: of bases of the query * edits.
        edit, square: of edits, and of their square.
        cells: of bases of the query * bases of the target.
    """

    longest: float = 0.0
    band: float = 0.0
    edit: float = 0.0
    square: float = 0.0
    cells: float = 0.0


Fallback = str | Callable[[AlignSpec], str | None]


@dataclass(frozen=True)
class CpuKernel:
    """A kernel of the CPU.

    Attributes:
        name: in routes, reports and `--kernel`.
        model: its model of time on this machine.
        work: the work of its model.
        reach: the pairs that it is worth a try for.
        fallback: the next kernel for each status; a status that is not there is final.
        algorithm, memory, words: of native AlignOptions.
        lanes: rows of a part of a route are a multiple of this.
        most_rows: maximum rows of a part, in multiples of lanes.
    """

    name: str
    model: Callable[[tuning.CpuModels, CostTraits], tuning.Model]
    work: Callable[[CostTraits], Work]
    reach: Callable[[AlignSpec, Limits], Reach]
    fallback: Mapping[Status, Fallback] = field(default_factory=dict)
    algorithm: str = "wavefront"
    memory: str = "table"
    words: int = 1
    lanes: int = 1
    most_rows: int = 1

    @property
    def score_share(self) -> float:
        """Time without CIGARs as a share of that with them."""
        family = self.name.split("-")[0]
        return tuning.SCORE_ONLY.get(self.name, tuning.SCORE_ONLY[family])


def dense_kernel(spec: AlignSpec) -> str:
    """Return the kernel for a global alignment of any pair, whatever its cost."""
    if not is_edit(spec):
        return whole_matrix(spec)
    return TABLE if spec.ambiguous is Ambiguous.WILDCARD else STRIPES


def whole_matrix(spec: AlignSpec) -> str:
    """Return the kernel whose time does not grow with the cost."""
    return DIFFERENCE if CostTraits.of(spec).in_words else GOTOH


def most_in_table(spec: AlignSpec, limits: Limits) -> float:
    """Return the edits above which a table of all rows cannot hold a pair."""
    # A lower bound of the table's bytes, if all edits are gaps on one side: a row reaches one diagonal further for
    # each `extend` of score, with one offset of 4 bytes per component.
    costs = CostTraits.of(spec)
    return math.sqrt(limits.table / (2.0 * costs.components * costs.extend))


def _for_ambiguous(spec: AlignSpec) -> str | None:
    """Return the kernel after a wavefront for ambiguous bases with a penalty of their own."""
    return GOTOH if spec.charges_ambiguous else None


def _after_linear(spec: AlignSpec) -> str | None:
    return None if leaves_out(spec) else GOTOH


def _after_gotoh(spec: AlignSpec) -> str | None:
    return TABLE if leaves_out(spec) else None


_FAILED = tuple(s for s in Status if s not in (Status.OK, Status.DROPPED))
_AFTER_BAND: dict[Status, Fallback] = {
    Status.UNSUPPORTED: TABLE,
    Status.WORK_LIMIT: GOTOH,
    Status.MEMORY_LIMIT: LINEAR,
}


def _edits_by_band(costs: CostTraits) -> Work:
    return Work(band=costs.edit / costs.extend)


def _wavefront_work(costs: CostTraits) -> Work:
    # Rows are scores, edits * costs.edit; each is as wide as gaps of its score reach.
    rows = costs.edit * (costs.components if costs.meet else 2 * costs.components)
    return Work(edit=rows * tuning.ROW, square=rows * costs.edit / costs.extend)


def _wavefront_model(models: tuning.CpuModels, costs: CostTraits) -> tuning.Model:
    return models.wavefront_linear if costs.components == 1 else models.wavefront


def _reach_of_table(spec: AlignSpec, limits: Limits) -> Reach:
    most = most_in_table(spec, limits) if spec.mode is Mode.GLOBAL else math.inf
    return Reach(edits=most, other_bases=not spec.charges_ambiguous)


def _reach_of_difference(spec: AlignSpec, limits: Limits) -> Reach:
    costs = CostTraits.of(spec)  # difference_pair.hpp
    return Reach(longest=(2**31 - 1) / costs.need / 2 if costs.in_words else -1.0)


def _reach_of_gotoh(spec: AlignSpec, limits: Limits) -> Reach:
    if leaves_out(spec):
        return Reach(longest=-1.0)
    # DIFFERENCE is faster for every pair that it supports; beyond, a long and a short sequence have few cells.
    slower = CostTraits.of(spec).in_bytes and plainly_global(spec) and not is_edit(spec)
    return Reach(shortest=_reach_of_difference(spec, limits).longest if slower else 0.0)


def _reach_of_reads(spec: AlignSpec, limits: Limits) -> Reach:
    longest = tuning.READS_LONGEST if CostTraits.of(spec).in_bytes else -1.0
    return Reach(longest=longest, other_bases=not spec.by_bits)


def _bits(words: int) -> CpuKernel:
    widest = words == max(BITS.values())

    def reach(spec: AlignSpec, limits: Limits) -> Reach:
        longest = tuning.BITS_LONGEST if widest and not spec.score_only else math.inf
        return Reach(longest, 64 * words / tuning.SAFETY_OF_BITS, other_bases=False)

    fallbacks: dict[Status, Fallback] = dict.fromkeys(_FAILED, STRIPES)
    fallbacks |= {Status.SCORE_LIMIT: STRIPES if widest else f"bits-{2 * 64 * words}", Status.UNSUPPORTED: CAPPED}
    return CpuKernel(
        f"bits-{64 * words}",
        lambda models, costs: models.bits_64 if words == 1 else models.bits,
        lambda costs: Work(longest=words),
        reach,
        fallbacks,
        algorithm="lanes",
        words=words,
        lanes=8,
        most_rows=8,
    )


_ROWS = (
    *(_bits(words) for words in BITS.values()),
    CpuKernel(
        STRIPES,
        lambda models, costs: models.stripes,
        lambda costs: Work(band=1.0),
        lambda spec, limits: Reach(other_bases=not spec.by_bits),
        _AFTER_BAND,
        algorithm="stripes",
    ),
    CpuKernel(
        INSIDE,
        lambda models, costs: models.inside_slabs,
        _wavefront_work,
        lambda spec, limits: Reach(longest=-1.0, other_bases=False),  # Forecast has a model of its own
        dict.fromkeys((Status.UNSUPPORTED, Status.MEMORY_LIMIT, Status.WORK_LIMIT), whole_matrix),
        algorithm="inside",
        lanes=8,
        most_rows=8,
    ),
    CpuKernel(
        DIFFERENCE,
        lambda models, costs: models.difference,
        _edits_by_band,
        _reach_of_difference,
        _AFTER_BAND,
        algorithm="difference",
    ),
    CpuKernel(
        READS,
        lambda models, costs: models.reads,
        _edits_by_band,
        _reach_of_reads,
        dict.fromkeys(_FAILED, dense_kernel),
        algorithm="reads",
        lanes=64,
        most_rows=256,
    ),
    CpuKernel(
        CAPPED,
        _wavefront_model,
        _wavefront_work,
        _reach_of_table,
        {
            Status.UNSUPPORTED: lambda spec: dense_kernel(spec) if spec.charges_ambiguous else None,
            **dict.fromkeys((Status.WORK_LIMIT, Status.MEMORY_LIMIT), dense_kernel),
        },
    ),
    CpuKernel(
        TABLE,
        _wavefront_model,
        _wavefront_work,
        _reach_of_table,
        {Status.UNSUPPORTED: _for_ambiguous, Status.WORK_LIMIT: GOTOH, Status.MEMORY_LIMIT: LINEAR},
    ),
    CpuKernel(
        LINEAR,
        _wavefront_model,
        _wavefront_work,
        lambda spec, limits: Reach(other_bases=not spec.charges_ambiguous),
        {Status.UNSUPPORTED: _for_ambiguous, Status.WORK_LIMIT: GOTOH, Status.MEMORY_LIMIT: _after_linear},
        memory="linear",
    ),
    CpuKernel(
        GOTOH,
        lambda models, costs: models.gotoh,
        lambda costs: Work(cells=1.0),
        _reach_of_gotoh,
        {Status.UNSUPPORTED: _after_gotoh},
        algorithm="gotoh",
    ),
)
CPU: Mapping[str, CpuKernel] = MappingProxyType({kernel.name: kernel for kernel in _ROWS})
CPU_KERNELS = tuple(CPU)


def fallback(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    """Return the kernel for pairs that this one answered with a status; None where the status is final."""
    if on_gpu(kernel):
        return _fallback_of_gpu(kernel, status, spec)
    following = CPU[kernel].fallback.get(status)
    return following(spec) if callable(following) else following


def _fallback_of_gpu(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    if status in (Status.OK, Status.DROPPED):
        return None
    if spec.heuristics:
        return TABLE  # which supports the same band
    dense = dense_kernel(spec)
    if status is Status.SCORE_LIMIT:
        from . import gpu_kernels  # imported here and below because runs without a GPU need not wait for it

        if spec.max_cost is None:
            return gpu_kernels.further(kernel, spec) or dense
        # Bands cannot tell what they do not prove from what exceeds the bound.
        return None if gpu_kernels.decides(kernel, spec) else dense
    # Other bases, or a GPU that fails: pairs of any kind.
    return CAPPED if status is Status.UNSUPPORTED and spec.max_cost is None else dense


def candidates(spec: AlignSpec, gpu: bool = False) -> tuple[str, ...]:
    """Return the kernels that may be a pair's first; of equal expected times the earlier one is chosen."""
    costs = CostTraits.of(spec)
    if gpu and plainly_global(spec):
        from . import gpu_kernels

        return (*(kernel.name for family in gpu_kernels.families(spec) for kernel in family), *candidates(spec))
    dense, steep = whole_matrix(spec), costs.steep and not spec.heuristics
    wavefronts = () if steep and dense == DIFFERENCE else (TABLE, LINEAR)
    if free_in_target(spec):
        return (INSIDE, dense, *wavefronts) if is_inside(spec) else (dense, *wavefronts)
    if free_in_query(spec) and spec.max_cost is None:
        # How much of such pairs overlaps is unknown: the kernel after CAPPED depends on what it has found.
        return (dense, *wavefronts) if steep else (CAPPED,)
    if not plainly_global(spec):
        return (GOTOH, TABLE, LINEAR) if steep_extension(spec) else (TABLE, LINEAR)
    # Under a bound on the cost no kernel may have a cap of its own.
    if is_edit(spec):
        # Bands of bit-vectors are as wide as lengths differ: of a long query and a short target all cells are fewer.
        first = (STRIPES, TABLE) if spec.max_cost is not None else (*BITS, STRIPES, CAPPED)
        return (*first, LINEAR, GOTOH)
    others = () if dense == GOTOH else (GOTOH,)  # see _reach_of_gotoh
    return (dense, TABLE, LINEAR, *others) if spec.max_cost is not None else (dense, READS, CAPPED, LINEAR, *others)
