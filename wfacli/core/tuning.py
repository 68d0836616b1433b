"""How long kernels take: models with their measurement beside them.

    python -m bench.experiments.crossover

measures each kernel by itself over lengths and errors, fits these models and prints them; the measurement is kept in
bench/results. One thread; microseconds a pair; with CIGARs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Microseconds a pair: start + letter * longest + unit * work."""

    start: float
    letter: float
    unit: float

    def of(self, longest: F64, work: F64, share: float = 1.0) -> F64:
        """A share of the microseconds (f64[n]) for pairs with so many letters and so much work (both f64[n])."""
        return np.asarray(share * self.start + share * self.letter * longest + share * self.unit * work)


@dataclass(frozen=True)
class CpuModels:
    """Of all kernels of the CPU, in one build."""

    bits_64: Model  # paths of a band of one word are found for all lanes together
    bits: Model  # work: letters * words
    stripes: Model  # work: letters * edits
    difference: Model  # work: letters * diagonals of the band
    reads: Model  # the same; up to 1,000 letters and errors of 15%
    reads_overlap: Model  # work: cells
    wavefront: Model  # work: cells of all components of a wavefront to the end, and ROW for each
    wavefront_linear: Model  # the same for gaps without opening
    gotoh: Model  # work: cells
    inside_lanes: Model  # longest: of the query; work: words of the query * columns of the target
    inside_slabs: Model  # longest: columns of the target; work: slabs of the query * the columns that each is over


# AMD EPYC (Zen 4, AVX-512), 2026-11-20, commit ae0004a: within a fifth of the measurement on average.
AVX512 = CpuModels(
    bits_64=Model(0.03, 0.00165, 0.0),
    bits=Model(0.0604, 0.000626, 0.00101),
    stripes=Model(2.28, 0.0114, 1.25e-05),
    difference=Model(0.00182, 0.0102, 4.35e-05),
    reads=Model(0.0282, 0.0, 0.000152),
    reads_overlap=Model(0.1, 0.0, 9.2e-05),
    wavefront=Model(0.118, 0.00027, 0.00021),
    wavefront_linear=Model(0.109, 0.000213, 0.0009),
    gotoh=Model(2.0, 0.02, 0.00045),
    inside_lanes=Model(0.1, 0.0055, 0.00035),
    inside_slabs=Model(1.0, 0.0015, 0.0035),
)
# A machine held to AVX2, and to SSE4.2 (WFACLI_ISA): Intel Xeon (Sapphire Rapids), 2026-11-23, others at work on it;
# by a tenth of the letters. Its AVX-512 takes 0.6 to 0.9 of the times above.
AVX2 = CpuModels(
    bits_64=Model(0.0698, 0.00101, 0.00101),
    bits=Model(0.0325, 0.00135, 0.00124),
    stripes=Model(2.36, 0.0111, 1.34e-05),
    difference=Model(0.168, 0.00795, 4.83e-05),
    reads=Model(0.0266, 0.0, 0.000192),
    reads_overlap=Model(0.1, 0.0, 0.000122),
    wavefront=Model(0.0841, 0.000262, 0.000173),
    wavefront_linear=Model(0.0933, 0.000212, 0.000635),
    gotoh=Model(2.0, 0.02, 0.0009),
    inside_lanes=Model(0.2, 0.0065, 0.00078),
    inside_slabs=Model(1.0, 0.002, 0.006),
)
SSE42 = CpuModels(
    bits_64=Model(0.0761, 0.00173, 0.00173),
    bits=Model(0.0593, 0.00124, 0.00216),
    stripes=Model(1.7, 0.0155, 3.4e-05),
    difference=Model(0.453, 0.00649, 9.64e-05),
    reads=Model(0.0263, 0.0, 0.00023),
    reads_overlap=Model(0.1, 0.0, 0.000186),
    wavefront=Model(0.0826, 0.000249, 0.00018),
    wavefront_linear=Model(0.0924, 0.000221, 0.00068),
    gotoh=Model(2.0, 0.02, 0.0018),
    inside_lanes=Model(0.4, 0.012, 0.0018),
    inside_slabs=Model(1.0, 0.003, 0.0125),
)
CPU_MODELS = {"x86-64-v4": AVX512, "x86-64-v3": AVX2, "x86-64-v2": SSE42}


def cpu_models(build: str) -> CpuModels:
    """Those of a build of the kernels; what has 16 bytes a vector is taken for SSE4.2's."""
    return CPU_MODELS.get(build, CPU_MODELS["x86-64-v2"])


# Letters of paths in the widest band of bits: those of longer pairs leave the cache; stripes take 0.9 to 1.05 of that.
BITS_LONGEST = 6000
READS_LONGEST = 2000  # letters (native/kernels/difference/difference.hpp)
# Overlaps: letters up to which all cells are computed, a pair a lane (likewise), and pairs from which on lanes are
# full enough. Two shared cores, 2026-11-23, AVX-512: 50, 150, 250, 500 letters 0.35, 2.0, 6, 23 us beside 2.4 to 3,
# 7 to 9, 11 to 16, 30 to 36 by a look ahead and bands. With other free ends of the query a wavefront ends clean pairs
# as soon, if they are few: 150 letters with 2% edits in 1.6 to 1.8 us, 250 letters in 2.9, with 600 free ones in 12.
READS_OVERLAP, READS_TOGETHER, READS_AT_ONCE = 512, 24, 160
ROW = 80.0
# Diagonals that free ends add: the share of them that a band has not left out before its end, and how many times as
# long as others wavefronts take for them. Two shared cores, AVX-512, 2026-11-23: 150 to 30,000 letters, 100 to 20,000
# free ones, 0.2 to 10% edits or half of the query like nothing, affine costs and edits: of 110 sets four went to a
# slower kernel, for 1.7 to 3.2 times as long.
FREE_SHARE, FREE_FRONT = 0.4, 1.6
# A query inside a target with free ends: letters up to which several are in a vector (bits.hpp), and rows of a
# slab beyond that (inside.hpp). Slabs are over all columns until random letters have cost more, so many a slab,
# than the query has edits; then over so many columns, and two more for an edit. With inside_lanes and inside_slabs:
# two shared cores, 2026-11-23, 150 to 10,000 letters in 300 to 100,000, 0.2 to 20% edits, within a third.
# From targets of so many times the query's letters on it is best whatever the edits: by edits, and by other costs.
INSIDE_FAR = {True: 2, False: 3}
INSIDE_LANES, INSIDE_SLAB, INSIDE_RANDOM, INSIDE_COLUMNS = 512, 512, 240.0, 700.0
MEETING_DEPTH = (
    8  # scores that a wavefront looks back, up to which two meet (native/kernels/wavefront/wavefront_front.hpp)
)
LINEAR_FACTOR = 1.4  # of the wavefront in little memory
# What scores alone take of the time with CIGARs, about, in bench/results' cpu-table.
SCORE_ONLY = {
    **{"bits": 0.55, "stripes": 0.75, "difference": 0.75, "difference-reads": 0.55, "wavefront": 0.8, "gotoh": 0.5},
}
SAFETY = 1.3  # estimates of edits are trusted to this factor
# The same where the next kernel takes twice as long or less: one in six has more edits, in sets of 1 to 10 kb.
SAFETY_OF_BITS = 1.1
USUAL_ERROR = 0.02  # edits a letter of pairs without an estimate
# Edits that an estimate of 10,000 letters looks at, and more letters too; estimate.hpp has the usual number. A
# GPU's kernels are cut to estimates.
ESTIMATE_BESIDE_A_GPU = 128
CHOOSING = 0.6  # microseconds for the estimate of a pair, and a route of its own
CAP = (24.0, 0.1)  # score at which a wavefront gives up: base, and share of the longest sequence
# The same for wavefronts that otherwise go to the end, under costs so unlike that a pair may take them far longer than
# all its cells take GOTOH: base, and the square root of the share of all cells that they may compute.
CAP_OF_ALL, CELLS_OF_ALL = 200.0, 1.5
CELLS_AT_MOST = 64  # times as many as a pair has, and rows for an edit, up to which wavefronts go to the end
MANY_CELLS = 100_000_000  # of a pair, which take GOTOH 45 ms
# Scores that a wavefront looks back (forecast.Units.steep), and microseconds for each of them before it begins: in a
# table one row stands for all, in a ring each row grows with the pair. 20 to 1,000 bases, AVX-512, 2026-11-24.
STEEP, STEEP_TABLE, STEEP_RING, STEEP_RING_LETTER = 1000, 0.003, 0.05, 0.004
STEEP_WIDE = 100  # diagonals from which on a ring's rows are taken to be as wide as the pair is long
# The same where ends of the query are free: at most about the time that the band's cells take then, less for noisy
# pairs; and about a tenth where matches earn something, so that rows reach as many diagonals as scores.
CAP_OF_FREE_ENDS, CAP_OF_OVERLAPS = (12.0, 0.05), (8.0, 0.025)
# NVIDIA H200; work: letters * diagonals. A GPU full of such pairs, so these are times of the whole GPU.
GPU_BITS = Model(0.0005, 2.4e-06, 5.3e-08)
GPU_BITS_WARP = Model(0.0005, 2.6e-05, 5e-08)
GPU_DP = Model(0.0005, 2.4e-06, 5e-07)
GPU_DP_WARP = Model(0.0005, 6e-05, 3.4e-07)
GPU_TILES = Model(0.0005, 8e-05, 2.9e-07)  # work: letters * rows that a column takes (gpu/tiles.py)
GPU_NARROW = 1.15  # times the estimate of a route's most demanding pair is what bands are cut to
GPU_RETRIED = 0.1  # microseconds of the host for each pair that comes a second time
# And of the host for each pair of a batch whose answers come in several parts: they are copied to be put together, and
# looked through. 1.5 to 2 ms and 0.8 ms for 191,000 reads on 2 cores (2026-11-22), of which other batches hide most.
GPU_APART = 0.003
GPU_JOB = 300.0  # microseconds that a route takes however few and short its pairs are
# Beside it a pair takes what it takes alone, which no other pair shortens: cycles of one warp, by kernel.
GPU_BESIDE = 0.5  # of what the slower of two jobs' slowest pairs take, where both are on the GPU
GPU_CLOCK = 1700.0  # cycles a microsecond
GPU_LETTER_CYCLES, GPU_CELL_CYCLES = 100.0, 3.0  # of a letter, and of a lane's diagonals for it
GPU_TILES_CYCLES, GPU_TILES_BACK_CYCLES = 430.0, 1000.0  # of a row of a tile; of one on the way back
GPU_WFA_ROW_CYCLES, GPU_WFA_PASS_CYCLES = 800.0, 600.0  # of a row, and of a group's pass over it
GPU_WFA_FAR = 3.0  # times as many where diagonals are in the GPU's memory
# How far true costs are from estimated ones: the spread of their ratio's logarithm, where many edits were seen, and
# where a kernel has shown an estimate to be wrong.
SPREAD, SPREAD_AGAIN = 0.09, 0.35
SPREAD_BY_CHANCE = 0.07  # of estimates of ESTIMATE_BESIDE_A_GPU, for pairs that are alike
LOOKED_AT = 1024.0  # letters that an estimate of a long pair with few errors looks at (native/plan/estimate.cpp)
GPU_CODED = 1.6  # times as long for letters other than A C G T
# Wavefronts; work: instructions of warps, counted in the code that the assembler makes. Four kernels, from 1 kb at 2%
# to 10 kb at 5%, took 0.57 to 0.65 of the time of half of what the GPU's clock allows.
GPU_WFA = Model(0.0015, 2.4e-06, 1.3e-06)
GPU_WFA_CELLS = (70.0, 120.0, 190.0)  # instructions for 32 cells, by pieces of gap costs
GPU_WFA_TRACE = (0.8, 1.1, 1.8, 1.0)  # times as many, by the trace (gpu/wfa.py)
GPU_WFA_SPILLED = 1.5  # and where diagonals are in the GPU's memory
GPU_WFA_ROW = 150.0  # instructions of a warp for a row
GPU_WFA_SHARE = 0.875  # of the diagonals that gaps reach, where likely costs bound them
GPU_WFA_FIRST = 0.8  # of the cost that few pairs exceed, up to which they are looked at first
GPU_LIKELY = 1.5  # times the estimate is what few pairs exceed
GPU_FURTHER = 1.2  # times as far a next kernel must reach to be worth a try
GPU_MULTIPROCESSORS = 132
GPU_BAND_LONE = 3.0  # by it a multiprocessor's share of a batch's rows is divided: pairs of more keep the GPU waiting
GPU_WORKSPACE = 8e9  # bytes
# What threads that align on the CPU while the GPU does are worth: their times are divided by this before they are
# compared. 16 of them, on 8 cores, did 6.7 to 10 times the work of one.
THREADS_BESIDE_A_GPU = 8
SHARED_CORES = 1.9  # times as long as alone a pair takes there: ten of 60 kb, 0.206 s each, with 16 threads on 8 cores
OPENING_A_GPU = 0.7  # seconds, of a process that has none open
# A pair of `align` that its route gives to the CPU goes over all of a GPU (engines/long.py) if it has so many
# letters, if the CPU takes so many seconds by its model, and the GPU, by its, this many times less. The CPU's kernels
# took 0.07 s for 330 kb with 12,160 edits, 1.0 s for 4.6 Mb with 28,152, 7 to 12 s for random 1 Mb, path included, in
# at most 370 MB (2026-11-22, 2 shared cores); the distance alone by two fronts or slabs a third to all of it: without
# a GPU they stay. A GPU's goals for these are 0.1, 0.4 and 0.5 s.
LONG_PAIR_LETTERS, LONG_PAIR_SECONDS, LONG_PAIR_MARGIN = 100_000, 0.1, 1.5
# Fronts of one long pair on a GPU (gpu/long_wavefront.py). NVIDIA H200, 2026-11-21: launches of fixed width between
# random letters, by an earlier form of the kernel; guesses are still to be measured.
GPU_LONG_LAUNCH = 1.4e-5  # seconds of the host for a launch
GPU_LONG_STEP = 5.3e-7  # seconds of a score of one tile
GPU_LONG_POINTS = 1.7e12  # a second, of GPU_MULTIPROCESSORS, ghosts with them
GPU_LONG_GAP = 8e-6  # seconds of a launch's beginning and end on a full GPU
GPU_LONG_SPEED = 2.5  # letters that fronts move in a score, above which the next two hold (guess)
GPU_LONG_FAST = 10.0  # times as long for all points: 8e10 a second on 250 Mb at 99%, ghosts left out
GPU_LONG_FAST_STEP = 2e-6  # seconds of a score of one tile: 1.2 to 3 on three real pairs
# The same of tiles that go along with the front (one H200, 2026-11-22).
GPU_LONG_SLANT = 5.6  # 2.7e11 points a second on 250 Mb at 99%, ghosts left out
GPU_LONG_SLANT_STEP = 2.9e-6  # 20 Mb at 99%, whose tiles the GPU takes all at a time
GPU_LONG_PLANES = {2: 1.0, 8: 1.4, 32: 4.0}  # times as long, by bits of a letter (32: guess)
GPU_LONG_LETTERS = 5.3e9  # bytes of letters a second, from ordinary memory to the GPU
GPU_LONG_START = 2e-3  # seconds, of memory and of finding the distance at the end
# Stripes of one long pair's matrix (gpu/long_bits.py), by bits of a letter and words of a lane: seconds of a warp's
# column when it has a scheduler to itself. NVIDIA H200, 2026-11-22, random pairs of 1, 4 and 10 Mb, 1 Mb in a narrow
# band, E. coli and H. pylori (four bits), and 500 kb of any bytes: within 15% of them.
GPU_BITS_COLUMN = {
    **{(2, 1): 3.2e-8, (2, 2): 3.4e-8, (2, 4): 5.5e-8, (2, 8): 1.1e-7},
    **{(4, 1): 3.1e-8, (4, 2): 4.3e-8, (4, 4): 6.0e-8, (8, 1): 4.3e-8, (8, 2): 6.6e-8},
}
GPU_BITS_MARGIN = 1.2  # times the likely edits that a band is made for: one that is too narrow has to be made again
GPU_BITS_BEHIND = 400  # columns that a stripe is behind the one before at least
# Strips of one long pair's best local alignment (gpu/local.py): seconds of a warp's column, by whether letters are
# looked up in pairs, where a multiprocessor has so many warps.
GPU_LOCAL_WARPS = 12
# 4.6 Mb with 4.6 Mb, every tile, and 1.2 Mb with 1.2 Mb: one H200, 2026-11-22.
GPU_LOCAL_COLUMN = {True: 1.75e-7, False: 3.5e-7}
GPU_LOCAL_BEHIND = 300  # columns that a strip is behind the one before at least (guess)
GPU_LOCAL_START = 5e-3  # seconds, of memory and letters
CPU_LOCAL_CELLS = 1.2e10  # a second, of a thread: one alone 1.6e10 to 2.2e10 on small pairs, AVX-512
# Batches of `extend` (engines/extend_auto.py), with CIGARs and scores alone: cells a second of a thread, AVX-512, and
# of a GPU; one H200 took 1.2 ms for 64 million letters that lay page-locked, and a job some milliseconds with the
# host's part of it. bench/tables/extend_table.py, bench/tables/sw_table.py, 2026-11-22.
CPU_EXTEND_CELLS, GPU_EXTEND_CELLS = (5e9, 6.5e9), (1e12, 2.5e12)
# The same of scores in bands until a Z-drop: a quarter to a third of ksw2's time, which has 7e8 on a machine with a
# GPU; and 1.3e12 to 3.3e12 (bench/tables/guided_table.py, 9a73785 and 4c4f9dc).
CPU_GUIDED_CELLS, GPU_GUIDED_CELLS = 2.6e9, 1.5e12
GPU_EXTEND_JOB, GPU_EXTEND_LETTER = 4e-3, 4e-11  # seconds
# The path of one long pair (gpu/long_path.py) whose distance is known. One H200, 2026-11-22: six pairs.
GPU_PATH_START = 4e-3  # seconds, of memory and of operations' way home
GPU_PATH_SWEEP = 1.3  # times as long as stripes take for the distance alone, by their model
GPU_PATH_ROWS = 3e-8  # seconds of walking, by rows of all stripes: 1e-8 to 2.5e-7, the more the less the pair is alike
GPU_PATH_SEGMENT = 5e-5  # seconds of walking, by segments of a front: 5e-5 to 7e-5
# One long pair's distance (distance/cpu.py). AMD EPYC (Zen 5, AVX-512), 2026-11-21, processor time of one thread: the
# wavefronts took 0.87 to 1.1 ns a point for distances of 3,315 to 39,743, bit-vectors 4.6 to 5 ps a cell of A C G T.
DISTANCE_START = 5e-5  # seconds
DISTANCE_POINT = 0.95e-9  # seconds; of two fronts, which have half the square of the distance
DISTANCE_CELL, DISTANCE_LETTERS = 4.9e-12, 1.25  # seconds; times as many for letters other than A C G T
# Columns of a row, in all passes: base, and share of the distance. Six pairs of genomes took 0.5 to 1.7 times as many.
DISTANCE_COLUMNS = (8000.0, 1.2)
DISTANCE_SECOND_THREAD = 1.8  # times as fast with it: both together take 1.0 to 1.15 times the processor time of one
DISTANCE_ALONE = 0.005  # seconds up to which one thread does all
