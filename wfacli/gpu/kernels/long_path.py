"""Builds of cuda/long/long_path*.cu: memory, groups of segments, and expected time."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import tuning
from ...errors import OutOfDeviceMemory
from . import long_bits, long_wavefront
from .layout import padded
from .long_bits import Band, Shape
from .long_wavefront import Launch, Tiles

GUESS = "long-path-guess"
STATE_INTERVAL = 8  # blocks of 32 columns between two saved states of a stripe
SKEW_BLOCKS = 16  # maximum blocks by which the last lane of a stripe lags (long_path_bits.cu)
_EXTRA_OPS = 64  # in addition to those of a segment's edits: gaps across the whole segment, runs beyond BAM's maximum
_MIN_GROUP = 16  # minimum segments of a front per group: with fewer, little runs in parallel
_CELL_BYTES = 8  # of 32 cells, two bits each
SHAPES = tuple(s for s in long_bits.SHAPES if (s.planes, s.words) in ((2, 1), (2, 2), (2, 8), (8, 1), (8, 2)))
FRONTS = tuple(s for s in long_wavefront.SHAPES if s.planes in (2, 8) and s.bits == 32)


def row_of(step: str, shape: Shape) -> str:
    """Return the catalogue row of a build; `step`: "sweep" or "walk"."""
    return f"long-path-{step}-{shape.planes}-{shape.words}"


def row_of_front(step: str, front: long_wavefront.Shape) -> str:
    """Return the catalogue row of a front's build; `step`: "sweep" or "walk"."""
    return f"long-path-front-{step}-{front.planes}"


# Stripes


@dataclass(frozen=True)
class Stripes:
    """The stripes of a band, and how many of them are traced at a time.

    Attributes:
        shape: build of the kernels.
        band: a band that proves the distance.
        count: number of stripes.
        edge_words: maximum words of 32 columns of a stripe.
        state_interval: blocks between two saved states.
        group: stripes whose states and edges are stored at a time.
    """

    shape: Shape
    band: Band
    count: int
    edge_words: int
    state_interval: int
    group: int

    @property
    def states_per_stripe(self) -> int:
        """Maximum states of a stripe."""
        return -(-(self.edge_words + SKEW_BLOCKS) // self.state_interval)

    @property
    def state_bytes(self) -> int:
        """Bytes of the state of a stripe's lanes."""
        return 4 * 32 * (2 * self.shape.words + 1)

    @property
    def edges_nbytes(self) -> int:
        """Bytes of all stored edges, and of the one before them."""
        return 16 * self.edge_words * (self.group + 1)

    @property
    def states_nbytes(self) -> int:
        """Bytes of all saved states."""
        return self.state_bytes * self.states_per_stripe * self.group

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch of a warp, for the part that it traces back through."""
        return 32 * self.state_interval * self.shape.words * 32 * _CELL_BYTES

    @property
    def expected_parts(self) -> int:
        """Parts, from state to state, that a path without long gaps crosses in a stripe."""
        return -(-(self.shape.rows + 32 * SKEW_BLOCKS) // (32 * self.state_interval)) + 1

    @property
    def op_capacity(self) -> int:
        """Maximum operations of a stripe's path."""
        return 2 * self.shape.rows + _EXTRA_OPS

    @classmethod
    def plan(
        cls,
        shape: Shape,
        lengths: tuple[int, int],
        distance: int,
        memory: int,
        state_interval: int = STATE_INTERVAL,
        group: int = 0,
    ) -> Stripes:
        """Plan as many stripes at a time as fit in memory.

        `memory`: bytes. `group`: maximum stripes; 0: no maximum. Raises OutOfDeviceMemory if not even one fits.
        """
        band = Band.for_distance(*lengths, distance)
        count = -(-lengths[0] // shape.rows)
        words = long_bits.edge_words(shape, band, lengths[1])
        whole = cls(shape, band, count, words, state_interval, 1)
        each = whole.states_nbytes + 16 * words + 4 * whole.op_capacity
        fit = min(group or count, (memory - 16 * words) // each)
        if fit < 1:
            raise OutOfDeviceMemory(f"a stripe's path needs {each} bytes, and there are {memory}")
        return cls(shape, band, count, words, state_interval, fit)


def stripes_seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], distance: int) -> float:
    """Return the expected time in seconds of one matrix's stripes and of the traceback through them."""
    sweep = long_bits.seconds_of(shape, multiprocessors, lengths, Band.for_distance(*lengths, distance), 1)
    return tuning.GPU_PATH_SWEEP * sweep + tuning.GPU_PATH_ROWS * lengths[0]


def best_stripes(planes: int, multiprocessors: int, lengths: tuple[int, int], distance: int) -> tuple[float, Shape]:
    """Return the fastest build, preceded by its time in seconds."""
    shapes = [s for s in SHAPES if s.planes == planes]
    return min(
        ((stripes_seconds(s, multiprocessors, lengths, distance), s) for s in shapes), key=lambda found: found[0]
    )


# Fronts


def diagonals_of_front(query_len: int, target_len: int, score: int, distance: int) -> tuple[int, int]:
    """Return the first and last diagonal where a best path may be at a score of the front, for a known distance."""
    end = target_len - query_len
    remaining = distance - score
    return max(-query_len, -score, end - remaining), min(target_len, score, end + remaining)


@dataclass(frozen=True)
class Fronts:
    """The states of a front that are saved: one before each segment, from which a launch computes the next.

    Attributes:
        front: build of the kernels.
        lengths: lengths of query and target.
        distance: their edit distance.
        scores: scores per segment, thus per launch.
        group: segments whose states are saved at a time.
    """

    front: long_wavefront.Shape
    lengths: tuple[int, int]
    distance: int
    scores: int
    group: int

    @property
    def count(self) -> int:
        """Number of segments."""
        return -(-(self.distance + 1) // self.scores)

    @property
    def groups(self) -> list[range]:
        """Segments by group."""
        return [range(s, min(s + self.group, self.count)) for s in range(0, self.count, self.group)]

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch of a warp, for the segment that it traces back through."""
        return 4 * (self.scores + 1) * self.front.width

    @property
    def op_capacity(self) -> int:
        """Maximum operations of a segment's path."""
        return 2 * self.scores + _EXTRA_OPS

    def score(self, segment: int) -> int:
        """Return the score before a segment; -1 before the first, from which the matrix's corner is reached."""
        return min(segment * self.scores - 1, self.distance)

    def tiles(self, segment: int, tip: tuple[int, int] | None = None) -> Tiles:
        """Return the tiles of the state before a segment; with a tip (score, diagonal), of paths that lead to it."""
        score = self.score(segment)
        low, high = diagonals_of_front(*self.lengths, max(score, 0), self.distance)
        if tip is not None:
            low, high = max(low, tip[1] - (tip[0] - score)), min(high, tip[1] + (tip[0] - score))
        return Tiles.over(self.front, self.scores, low, high)

    def nbytes(self, segment: int, tip: tuple[int, int] | None = None) -> int:
        """Return the bytes of the state before a segment, padded."""
        return padded(4 * self.tiles(segment, tip).diagonals)

    @property
    def group_starts_nbytes(self) -> int:
        """Bytes of the states before each group."""
        return sum(self.nbytes(segments[0]) for segments in self.groups)

    @property
    def group_nbytes(self) -> int:
        """Bytes of a group's other states; if there are several groups, each traces back from a tip."""
        if self.group >= self.count:
            return sum(self.nbytes(s) for s in range(1, self.count))
        widest = 2 * self.group * self.scores + 2 * self.front.width
        return self.group * padded(4 * widest)

    @property
    def widest_nbytes(self) -> int:
        """Bytes of the widest possible state."""
        difference = abs(self.lengths[1] - self.lengths[0])
        return padded(4 * (self.distance + difference + 4 * self.front.width))

    @classmethod
    def plan(
        cls,
        front: long_wavefront.Shape,
        lengths: tuple[int, int],
        distance: int,
        memory: int,
        scores: int,
        group: int = 0,
    ) -> Fronts:
        """Plan all segments at a time if they fit in memory, otherwise groups of segments.

        `memory`: bytes. `group`: maximum segments; 0: no maximum. Raises OutOfDeviceMemory if no group fits.
        """
        whole = cls(front, lengths, distance, scores, 1 << 62)
        group = min(group or whole.count, whole.count)
        while True:
            plan = cls(front, lengths, distance, scores, group)
            needs = plan.group_starts_nbytes + plan.group_nbytes + 4 * plan.op_capacity * group
            if group < whole.count:
                needs += 2 * plan.widest_nbytes
            if needs <= memory:
                return plan
            if group <= _MIN_GROUP:
                raise OutOfDeviceMemory(f"the front's states need {needs} bytes, and there are {memory}")
            group = max(group // 2, _MIN_GROUP)


def best_scores(front: long_wavefront.Shape, multiprocessors: int, lengths: tuple[int, int], distance: int) -> int:
    """Return the scores of a segment: the best launch for a front about as wide as this one becomes."""
    low, high = diagonals_of_front(*lengths, distance // 2, distance)
    speed = min(lengths) / max(distance, 1)
    return long_wavefront.best_launch(front, multiprocessors, high - low + 1, speed).ghost


def front_seconds(front: long_wavefront.Shape, multiprocessors: int, lengths: tuple[int, int], distance: int) -> float:
    """Return the expected time in seconds of one front's launches and of the traceback through its states."""
    scores = best_scores(front, multiprocessors, lengths, distance)
    plan = Fronts(front, lengths, distance, scores, 1)
    speed = min(lengths) / max(distance, 1)
    some = range(0, plan.count, max(plan.count // 64, 1))
    tiles = [-(-plan.tiles(segment).count // 2) for segment in some]  # tile counts are for two fronts
    launches = [long_wavefront.launch_seconds(front, multiprocessors, count, Launch(scores), speed) for count in tiles]
    return sum(launches) * plan.count / len(some) + tuning.GPU_PATH_SEGMENT * plan.count


def seconds(multiprocessors: int, lengths: tuple[int, int], distance: int, plain: bool) -> dict[str, float]:
    """Return the expected seconds of each method for the path of a known distance, copies of sequences included."""
    planes = 2 if plain else 8
    front = next(s for s in FRONTS if s.planes == planes)
    start = tuning.GPU_PATH_START + sum(lengths) / tuning.GPU_LONG_UPLOAD_RATE
    methods = {"stripes": start + best_stripes(planes, multiprocessors, lengths, distance)[0]}
    if max(lengths) <= long_wavefront.NARROW:
        methods["fronts"] = start + front_seconds(front, multiprocessors, lengths, distance)
    return methods
