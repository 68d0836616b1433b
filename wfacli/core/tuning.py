"""Time models of the kernels, with the measurements that they were fitted to.

    python -m bench.experiments.crossover

measures each kernel by itself over lengths and error rates, fits these models and prints them; the measurements are in
bench/results. Unless stated otherwise, times are microseconds a pair, with CIGARs, on one thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Linear time model, in microseconds a pair: start + base * longest + unit * work."""

    start: float
    per_base: float
    unit: float

    def of(self, longest: F64, work: F64, share: float = 1.0) -> F64:
        """Return `share` of the expected microseconds (f64[n]), by longest sequence (bases) and work (f64[n] each)."""
        return np.asarray(share * self.start + share * self.per_base * longest + share * self.unit * work)


@dataclass(frozen=True)
class CpuModels:
    """Models of all CPU kernels in one build."""

    bits_64: Model  # one-word bands: the tracebacks of all lanes run together
    bits: Model  # work: bases * words
    stripes: Model  # work: bases * edits
    difference: Model  # work: bases * diagonals of the band
    reads: Model  # same work as difference; up to 1,000 bases and 15% errors
    reads_overlap: Model  # work: cells
    wavefront: Model  # work: cells of all components of a wavefront until its end, and ROW for each of its rows
    wavefront_linear: Model  # same work as wavefront; gaps without opening
    gotoh: Model  # work: cells
    inside_lanes: Model  # longest: bases of the query; work: words of the query * columns of the target
    inside_slabs: Model  # longest: columns of the target; work: columns of each slab of the query, summed


# AMD EPYC (Zen 4, AVX-512), 2026-11-20, commit ae0004a: on average within 20% of the measurements.
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
# Restricted to AVX2 and to SSE4.2 (WFACLI_ISA): Intel Xeon (Sapphire Rapids), 2026-11-23, while other processes used
# it; measured on a tenth of the bases. With AVX-512 the same machine takes 0.6 to 0.9 of the times above.
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
    """Return the models of a build of the kernels; other builds with 16-byte vectors use those of SSE4.2."""
    return CPU_MODELS.get(build, CPU_MODELS["x86-64-v2"])


# Maximum bases for the widest band of bit-vectors with CIGARs: the columns of longer pairs do not fit the cache, and
# stripes take 0.9 to 1.05 of its time there.
BITS_LONGEST = 6000
READS_LONGEST = 2000  # bases (native/kernels/difference/difference.hpp)
# Overlaps: maximum bases of pairs that are computed in full, one pair a lane (difference.hpp), and minimum number of
# pairs that fills the lanes. Two shared cores, 2026-11-23, AVX-512: 50, 150, 250 and 500 bases take 0.35, 2.0, 6 and
# 23 us, against 2.4 to 3, 7 to 9, 11 to 16 and 30 to 36 us with a search for the ends followed by bands. With a few
# free bases at the query's ends, in other modes, a wavefront finishes similar pairs about as fast: 150 bases with 2%
# edits in 1.6 to 1.8 us, 250 bases in 2.9 us, but in 12 us with 600 free bases. READS_ENDS_FREE: maximum bases there.
READS_OVERLAP, READS_MIN_PAIRS, READS_ENDS_FREE = 512, 24, 160
ROW = 80.0
# Diagonals that free ends add: the share of them that a band still computes at its end, and how many times as long
# wavefronts take for them as for other diagonals. Two shared cores, AVX-512, 2026-11-23: 150 to 30,000 bases, 100 to
# 20,000 free bases, 0.2 to 10% edits or half of the query random, affine and edit costs. The model chose a slower
# kernel for four of 110 sets, which then took 1.7 to 3.2 times as long.
FREE_SHARE, FREE_FRONT = 0.4, 1.6
# A query inside a target with free ends. INSIDE_LANES: maximum bases for several queries in a vector (bits.hpp);
# INSIDE_SLAB: rows of a slab for longer queries (inside.hpp). Slabs are computed over all columns until random
# sequence would cost more (INSIDE_RANDOM edits a slab) than the query has edits; later slabs over INSIDE_COLUMNS
# columns and two more for each edit. Fitted with inside_lanes and inside_slabs: two shared cores, 2026-11-23, queries
# of 150 to 10,000 bases in targets of 300 to 100,000, 0.2 to 20% edits, within a third of the measurements.
# INSIDE_MIN_LENGTH_RATIO: minimum ratio of target to query length at which INSIDE is the best kernel for any number of
# edits, with edit costs (True) and with other costs (False).
INSIDE_MIN_LENGTH_RATIO = {True: 2, False: 3}
INSIDE_LANES, INSIDE_SLAB, INSIDE_RANDOM, INSIDE_COLUMNS = 512, 512, 240.0, 700.0
MEETING_DEPTH = (
    8  # maximum depth in scores of wavefronts that meet in the middle (native/kernels/wavefront/wavefront_front.hpp)
)
LINEAR_FACTOR = 1.4  # time of the wavefront in linear memory, relative to the one with a table
# Approximate time for scores alone, relative to the time with CIGARs; from cpu-table in bench/results.
SCORE_ONLY = {
    **{"bits": 0.55, "stripes": 0.75, "difference": 0.75, "difference-reads": 0.55, "wavefront": 0.8, "gotoh": 0.5},
}
SAFETY = 1.3  # a pair is assumed to have at most this many times its estimated edits
# Same factor, for kernels whose successor takes at most twice as long. One pair in six has more edits, in sets of 1 to
# 10 kb.
SAFETY_OF_BITS = 1.1
DEFAULT_ERROR_RATE = 0.02  # edits a base, assumed for pairs without an estimate
# Edits that the estimate of a pair of 10,000 bases or more samples; estimate.hpp has the default. It is larger with a
# GPU, whose kernels are sized by the estimates.
ESTIMATE_WITH_GPU = 128
ROUTING_PER_PAIR = 0.6  # microseconds to estimate the edits of a pair and give it a route of its own
CAP = (24.0, 0.1)  # score at which a wavefront gives up: constant, and factor of the longest sequence's length
# Same limit, for wavefronts that otherwise run to the end: under very unequal costs they may take far longer than
# GOTOH takes for all cells. Constant, and square root of the share of all cells that they may compute.
CAP_OF_ALL, CELLS_OF_ALL = 200.0, 1.5
MAX_CELL_RATIO = 64  # wavefronts run to the end if they have at most this many times a pair's cells, and rows an edit
MANY_CELLS = 100_000_000  # cells of a pair, which take GOTOH 45 ms
# STEEP: minimum depth, in scores, of steep costs (CostTraits.steep). The others: microseconds for each score of
# the depth before the wavefront begins. In a table one shared row represents them all; in a ring each row grows with
# the pair. 20 to 1,000 bases, AVX-512, 2026-11-24.
STEEP, STEEP_TABLE, STEEP_RING, STEEP_RING_PER_BASE = 1000, 0.003, 0.05, 0.004
STEEP_WIDE = 100  # diagonals from which on the rows of a ring are assumed to be as wide as the pair is long
# Like CAP, where ends of the query are free: a wavefront may take at most about the time of the band's cells, less for
# pairs with many errors; and about a tenth of it with a match bonus, where a row reaches as many diagonals as scores.
CAP_OF_FREE_ENDS, CAP_OF_OVERLAPS = (12.0, 0.05), (8.0, 0.025)
# NVIDIA H200; work: bases * diagonals. Times of the whole GPU, full of such pairs, divided by their number.
GPU_BITS = Model(0.0005, 2.4e-06, 5.3e-08)
GPU_BITS_WARP = Model(0.0005, 2.6e-05, 5e-08)
GPU_DP = Model(0.0005, 2.4e-06, 5e-07)
GPU_DP_WARP = Model(0.0005, 6e-05, 3.4e-07)
GPU_TILES = Model(0.0005, 8e-05, 2.9e-07)  # work: bases * rows that a column takes (gpu/kernels/tiles.py)
GPU_BAND_MARGIN = 1.15  # bands are sized for this many times the estimate of the route's most expensive pair
GPU_RETRIED = 0.1  # microseconds of host time for each retried pair
# Microseconds of host time for each pair of a batch whose results arrive in several parts: the parts are copied into
# one result and searched. For 191,000 reads on 2 cores this takes 1.5 to 2 ms and 0.8 ms (2026-11-22), most of which
# overlaps with other batches.
GPU_GATHER = 0.003
GPU_LAUNCH_OVERHEAD = 300.0  # fixed microseconds of a route, however few and short its pairs are
# A route also takes at least the latency of its slowest pair, modelled below in cycles of one warp, by kernel.
GPU_OVERLAP_SHARE = 0.5  # share added of the shorter of two times on the GPU, where two launches overlap
GPU_CLOCK = 1700.0  # cycles a microsecond
GPU_BASE_CYCLES, GPU_CELL_CYCLES = 100.0, 3.0  # per base; per base for each diagonal of a lane
GPU_TILES_CYCLES, GPU_TILES_TRACEBACK_CYCLES = 430.0, 1000.0  # per row of a tile; per row in the traceback
GPU_WFA_ROW_CYCLES, GPU_WFA_PASS_CYCLES = 800.0, 600.0  # per row; per pass of a group over a row
GPU_WFA_SPILLED_PASS = 3.0  # factor for a pass where diagonals are in GPU memory
# Standard deviation of log(true cost / estimated cost): of estimates that sampled many edits, and of estimates that a
# kernel has shown to be too low.
SPREAD, SPREAD_RETRIED = 0.09, 0.35
SPREAD_SAMPLING = 0.07  # spread of estimates with ESTIMATE_WITH_GPU among pairs of equal error rate
SAMPLED_BASES = 1024.0  # bases sampled by the estimate of a long pair with few errors (native/plan/estimate.cpp)
GPU_CODED = 1.6  # factor for pairs with symbols other than A C G T
# Wavefronts; work: instructions of warps, counted in the generated machine code. Four kernels, from 1 kb at 2%
# to 10 kb at 5%, took 0.57 to 0.65 of the time that half of the GPU's peak rate would take.
GPU_WFA = Model(0.0015, 2.4e-06, 1.3e-06)
GPU_WFA_CELLS = (70.0, 120.0, 190.0)  # instructions for 32 cells, by the number of pieces of the gap costs
GPU_WFA_TRACE = (0.8, 1.1, 1.8, 1.0)  # factor by the kind of trace (gpu/kernels/wfa.py)
GPU_WFA_SPILLED = 1.5  # further factor where diagonals are in GPU memory
GPU_WFA_ROW = 150.0  # instructions of a warp for a row
GPU_WFA_SHARE = 0.875  # computed share of the diagonals that gaps reach, where the likely cost bounds them
GPU_WFA_FIRST = 0.8  # the first attempt goes up to this share of the cost that few pairs exceed
GPU_LIKELY = 1.5  # few pairs exceed this many times their estimate
GPU_RETRY_RATIO = 1.2  # minimum ratio of the next kernel's maximum cost to this one's, for a retry to be worthwhile
GPU_MULTIPROCESSORS = 132
# A pair with more edits than a multiprocessor's share of the batch, divided by this, would finish last by itself.
GPU_BAND_EXCLUSIVE = 3.0
GPU_WORKSPACE = 8e9  # bytes
# Equivalent number of CPU threads that align while the GPU does: their times are divided by this before they are
# compared. 16 threads on 8 cores did 6.7 to 10 times the work of one.
THREADS_WITH_GPU = 8
# Share of that for kernels where the CPU also maps reads, extends alignments and writes them, of several batches at a
# time: what goes to the GPU instead makes all of this sooner (ONT, 16 threads on 8 cores beside an H100).
CPU_SHARE_BESIDE_MAPPER = 0.25
SHARED_CORES = 1.9  # latency of a pair there, relative to one alone: ten of 60 kb, 0.206 s each, 16 threads on 8 cores
GPU_OPEN_SECONDS = 0.45  # seconds to open a GPU in a process that has none open (H100, 2026-11-26: 0.38 to 0.45)
# Work of one of many threads, relative to a thread alone: 16 threads on 8 cores did 6.7 to 10 times its work.
THREAD_SHARE = 0.5
# Seconds of one thread for a base of a mapped read, with its extensions: Nanopore under two-piece costs, and reads of
# 150 bases (2026-11-26: 8e-9).
CPU_MAPPED_BASE, CPU_MAPPED_SHORT_BASE = 1.5e-7, 1e-8
# A pair of `align` that its route gives to the CPU is computed on a whole GPU (engines/long.py) if it has at least
# LONG_PAIR_BASES bases, if the CPU is expected to take at least LONG_PAIR_SECONDS, and if the GPU is expected to be
# LONG_PAIR_MARGIN times as fast. CPU kernels took 0.07 s for 330 kb with 12,160 edits, 1.0 s for 4.6 Mb with 28,152,
# 7 to 12 s for random 1 Mb, with CIGARs, in at most 370 MB (2026-11-22, 2 shared cores). The distance alone by two
# fronts or by slabs takes a third to all of that, so without a GPU such pairs stay with the CPU kernels. The targets
# for these pairs on a GPU are 0.1, 0.4 and 0.5 s.
LONG_PAIR_BASES, LONG_PAIR_SECONDS, LONG_PAIR_MARGIN = 100_000, 0.1, 1.5
# Fronts of one long pair on a GPU (gpu/kernels/long_wavefront.py). NVIDIA H200, 2026-11-21: launches of fixed width on
# random sequences, with an earlier version of the kernel; values marked as guesses are not measured yet.
GPU_LONG_LAUNCH = 1.4e-5  # seconds of host time for a launch
GPU_LONG_STEP = 5.3e-7  # seconds for a score of one tile
GPU_LONG_POINTS = 1.7e12  # points a second on GPU_MULTIPROCESSORS, including ghosts
GPU_LONG_GAP = 8e-6  # seconds for the beginning and end of a launch on a full GPU
GPU_LONG_SPEED = 2.5  # bases that fronts advance in a score, above which the following two values apply (guess)
GPU_LONG_FAST = 10.0  # factor for all points: 8e10 a second on 250 Mb at 99%, without ghosts
GPU_LONG_FAST_STEP = 2e-6  # seconds for a score of one tile: 1.2 to 3 us on three real pairs
# Same two values for tiles that move with the front (one H200, 2026-11-22).
GPU_LONG_SLANT = 5.6  # 2.7e11 points a second on 250 Mb at 99%, without ghosts
GPU_LONG_SLANT_STEP = 2.9e-6  # 20 Mb at 99%, whose tiles are all resident at once
GPU_LONG_PLANES = {2: 1.0, 8: 1.4, 32: 4.0}  # factor by bits of a symbol (32: guess)
GPU_LONG_UPLOAD_RATE = 5.3e9  # bytes of sequence a second, copied from pageable memory to the GPU
GPU_LONG_START = 2e-3  # seconds to allocate memory, and to extract the distance at the end
# Stripes of one long pair's matrix (gpu/kernels/long_bits.py), by bits of a symbol and words of a lane: seconds for a
# column of a warp that has a scheduler to itself. NVIDIA H200, 2026-11-22, random pairs of 1, 4 and 10 Mb, 1 Mb in a
# narrow band, E. coli and H. pylori (four bits), and 500 kb of arbitrary bytes: within 15% of the measurements.
GPU_BITS_COLUMN = {
    **{(2, 1): 3.2e-8, (2, 2): 3.4e-8, (2, 4): 5.5e-8, (2, 8): 1.1e-7},
    **{(4, 1): 3.1e-8, (4, 2): 4.3e-8, (4, 4): 6.0e-8, (8, 1): 4.3e-8, (8, 2): 6.6e-8},
}
GPU_BITS_MARGIN = 1.2  # bands are sized for this many times the likely edits: one too narrow has to be recomputed
GPU_BITS_LAG = 400  # minimum columns by which a stripe lags the one before
# Strips of one long pair's best local alignment (gpu/kernels/local.py): warps of a multiprocessor, and seconds for a
# column of a warp, by whether scores are looked up for pairs of symbols.
GPU_LOCAL_WARPS = 12
# 4.6 Mb against 4.6 Mb, every tile, and 1.2 Mb against 1.2 Mb: one H200, 2026-11-22.
GPU_LOCAL_COLUMN = {True: 1.75e-7, False: 3.5e-7}
GPU_LOCAL_LAG = 300  # minimum columns by which a strip lags the one before (guess)
GPU_LOCAL_START = 5e-3  # seconds to allocate memory and copy the sequences
CPU_LOCAL_CELLS = 1.2e10  # cells a second of a thread; a single thread does 1.6e10 to 2.2e10 on small pairs, AVX-512
# Batches of `extend` (engines/extend_auto.py), with CIGARs and scores alone: cells a second of one thread (AVX-512)
# and of a GPU. One H200 took 1.2 ms for 64 million bases in page-locked memory, and a launch takes some milliseconds
# including the host's part. bench/tables/extend_table.py, bench/tables/sw_table.py, 2026-11-22.
CPU_EXTEND_CELLS, GPU_EXTEND_CELLS = (5e9, 6.5e9), (1e12, 2.5e12)
# Same rates for scores in bands with a Z-drop. The CPU takes a quarter to a third of the time of ksw2, which does 7e8
# on a machine with a GPU; the GPU did 1.3e12 to 3.3e12 (bench/tables/guided_table.py, 9a73785 and 4c4f9dc).
CPU_GUIDED_CELLS, GPU_GUIDED_CELLS = 2.6e9, 1.5e12
GPU_EXTEND_LAUNCH, GPU_EXTEND_PER_BASE = 4e-3, 4e-11  # seconds a launch; seconds a base
# Path of one long pair whose distance is known (gpu/kernels/long_path.py). One H200, 2026-11-22: six pairs.
GPU_PATH_START = 4e-3  # seconds to allocate memory and copy the operations to the host
GPU_PATH_SWEEP = 1.3  # time relative to the model of stripes for the distance alone
GPU_PATH_ROWS = 3e-8  # seconds of traceback a row of all stripes: 1e-8 to 2.5e-7, more for less similar pairs
GPU_PATH_SEGMENT = 5e-5  # seconds of traceback a segment of a front: 5e-5 to 7e-5
# Distance of one long pair (solve/distance/cpu.py). AMD EPYC (Zen 5, AVX-512), 2026-11-21, CPU time of one thread: the
# wavefronts took 0.87 to 1.1 ns a point for distances of 3,315 to 39,743, bit-vectors 4.6 to 5 ps a cell of A C G T.
DISTANCE_START = 5e-5  # seconds
DISTANCE_POINT = 0.95e-9  # seconds a point; two fronts have half the square of the distance in points
DISTANCE_CELL, DISTANCE_NON_ACGT_FACTOR = 4.9e-12, 1.25  # seconds a cell; factor for symbols other than A C G T
# Columns of a row, over all passes: constant, and factor of the distance. Six pairs of genomes took 0.5 to 1.7 times
# as many.
DISTANCE_COLUMNS = (8000.0, 1.2)
DISTANCE_SECOND_THREAD = 1.8  # speedup by a second thread: both together use 1.0 to 1.15 times the CPU time of one
DISTANCE_ONE_THREAD = 0.005  # seconds; shorter tasks use a single thread
