// Kernel arguments: plain values and addresses in GPU memory.
// wfacli/gpu/runtime/task.py mirrors the layout; a test compares both.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// Values of wfacli.core.batch.Status.
enum class Status : std::uint8_t {
  Ok, ScoreLimit, MemoryLimit, LengthLimit, Dropped, Unsupported, WorkLimit, ScoreRange
};

// CIGAR operations, numbered as in BAM; an element is length << 4 | operation.
enum Op : std::uint32_t { kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8 };

// The sequences of a batch (wfacli.core.batch.PairBatch) on the GPU. A sequence starts at a multiple of 16 symbols,
// and starts are in units of 16: symbol 16 * start of `codes` is in word `start` of `packed`.
struct Sequences {
  // 2 bits per base (common/symbols.cuh), 16 bases per word in input order, the first in the lowest bits. kGuard words
  // before and after are readable. Only for pairs of A C G T.
  const std::uint32_t* packed;
  // One byte per symbol (wfacli/native/base/symbols.hpp), by the --ambiguous rule; null if no pair needs it.
  const std::uint8_t* codes;
  const std::uint32_t* query_start;  // [n]
  const std::uint32_t* target_start;
  const std::int32_t* query_len;  // [n]
  const std::int32_t* target_len;
};

constexpr int kGuard = 8;  // words

// A match costs 0; a gap of length l costs the minimum of open[k] + l * extend[k] over its pieces. All costs are
// divided by their greatest common divisor.
struct Costs {
  std::int32_t mismatch;
  std::int32_t pieces;  // 1 or 2
  std::int32_t open[2];
  std::int32_t extend[2];
};

// A launch of an alignment kernel. Slot s (0 <= s < count) is row rows[s] of the batch. Cells are those of the
// reversed sequences: (0, 0) is the end of both, and the traceback from (query_len, target_len) yields the canonical
// operations in forward order.
struct AlignTask {
  Sequences seq;
  const std::int32_t* rows;  // [count]

  // Results, [count] each. cost is in units of costs. Slot s has op_count[s] elements from ops + s * op_capacity on,
  // in forward order, adjacent ones different; none if status is not Ok or `path` is 0.
  std::uint8_t* status;
  std::int32_t* cost;
  std::int32_t* op_count;
  std::uint32_t* ops;

  // Scratch memory: `stride` bytes for each unit of work (which each kernel defines), 256-byte aligned.
  std::uint8_t* workspace;
  std::uint64_t stride;
  std::uint32_t* work_counter;  // from which resident groups draw slots; 0 before the launch

  Costs costs;
  std::int32_t count;
  std::int32_t op_capacity;  // elements per slot; a pair that needs more gets MemoryLimit
  std::int32_t max_cost;     // in units of costs; a pair above it gets ScoreLimit
  std::int32_t longest;      // bases of the longest sequence of the launch; bounds loops and strides
  std::int32_t path;         // whether to compute ops
  std::int32_t wildcard;     // whether codes match if they share a bit; otherwise they match if equal

  // Heuristic band; kernels without one do not write `cut`.
  std::int32_t band;       // diagonals on either side of the band's centre
  std::int32_t band_step;  // scores after which the band is centred again; 0: never

  // Wavefronts (wfa.cu): cost bound of the first attempt; most pairs cost no more.
  std::int32_t first_cost;
  std::uint8_t* cut;       // [count], 1 if the band excluded a reachable diagonal; null: not wanted

  // Tiles (dp_tiles.cu), for which `band` is the widest band in diagonals: [count], band width of each slot; null: all
  // have `band`.
  const std::int32_t* bands;
};

// Which parts of the sequences an alignment under a scoring scheme covers; values of wfacli.gpu.kernels.sw.Rule.
enum class SwRule : std::int32_t {
  Local,       // the best-scoring parts of both
  Semiglobal,  // the whole query
  Global,      // both whole sequences
  Extension,   // from the start of both to the best end
};

constexpr int kSwCodes = 32;  // codes of symbols, and one for positions beyond a sequence

// A launch of sw.cu. Slot s (0 <= s < count) is row rows[s] of the batch; neither of its sequences is empty.
struct SwTask {
  Sequences seq;  // codes only, each less than `codes`
  const std::int32_t* rows;  // [count], by slot

  // Results, indexed by row; ops as in AlignTask, indexed by slot. span: query_begin, query_end, target_begin,
  // target_end; zeros if nothing is aligned. Without a path the span covers both sequences; sw_guided.cu sets
  // query_begin to -1 if its heuristic excluded something.
  std::uint8_t* status;
  std::int32_t* score;
  std::int32_t* op_count;
  std::uint32_t* ops;
  int4* span;

  // Scratch memory: `stride` bytes for each resident group of lanes, or for each group of the launch if the directions
  // of all cells are stored; 256-byte aligned.
  std::uint8_t* workspace;
  std::uint64_t stride;
  std::uint32_t* work_counter;  // from which resident warps draw slots; 0 before the launch

  // [count], by slot: lengths of the prefixes of query (x) and target (y) to align; null: whole sequences.
  const int2* prefixes;
  int2* ends;  // [count], by slot: best prefixes found by Extension, or where tracebacks start; else unused

  std::int32_t codes;  // 1 to 30
  // Scores and costs are divided by `unit`, a common divisor of the scheme; results are multiplied by it.
  std::int32_t unit;
  std::int32_t open;  // a gap of length l costs open + l * extend
  std::int32_t extend;
  std::int32_t max_score;  // highest score in the table
  std::int32_t count;
  std::int32_t op_capacity;      // elements per slot; a pair that needs more gets MemoryLimit
  std::int32_t longest_query;    // symbols, over the launch; these bound strides
  std::int32_t longest_target;
  SwRule rule;
  std::uint32_t self_match;  // bit c: whether code c aligned with itself is written as =

  // Bytes [kSwCodes][kSwCodes]: score of a target code (row) and a query code (column). Code `codes` stands for
  // positions beyond a sequence; its scores are negative and no higher than any other score.
  std::uint32_t scores[kSwCodes * kSwCodes / 4];
  // sw_guided.cu: diagonals on either side of the main one, at most the longest sequence's length; and the Z-drop, in
  // units: how far an anti-diagonal's best score may fall, in addition to gap extensions.
  std::int32_t band;
  std::int32_t drop;
};

// A launch of pack_bases (pack.cu).
struct PackTask {
  const std::uint8_t* bases;  // [n_bases], 16-byte aligned
  std::uint32_t* packed;      // [n_bases / 16], output for Sequences::packed; kGuard words on either side become 0
  std::uint64_t n_bases;      // a multiple of 16
};

// A launch of encode_symbols (pack.cu).
struct EncodeTask {
  const std::uint8_t* bases;   // 16-byte aligned, as are all its sequences; padded to a multiple of 16 bytes
  std::uint8_t* codes;         // output for Sequences::codes
  const std::uint8_t* tables;  // [2][256], code of each query symbol and of each target symbol, 16-byte aligned
  const std::int32_t* rows;    // [count], rows of the batch
  const std::uint32_t* query_start;
  const std::uint32_t* target_start;
  const std::int32_t* query_len;
  const std::int32_t* target_len;
  std::int32_t count;
};

// A launch of the kernels in cigar.cu, which concatenate the operations of an AlignTask.
struct GatherTask {
  const std::int32_t* op_count;  // [count], of the AlignTask; 16-byte aligned
  const std::uint32_t* ops;      // of the AlignTask
  const std::int32_t* rows;      // [count], for gather_ops: each slot's index into op_count and start; null: the slot
  std::int64_t* start;           // [count + 1], offset of each slot's operations in cigar, then their total
  std::int64_t* sums;            // [chunks], scratch memory
  std::uint32_t* cigar;          // [start[count]]
  std::int64_t chunk;            // slots per chunk, of which a block takes one at a time; a multiple of 4
  std::int32_t chunks;           // chunks in `count`, at least 1
  std::int32_t count;
  std::int32_t op_capacity;  // elements per slot in ops
  std::int32_t lanes_log2;   // 2^lanes_log2 threads copy a slot's operations
};

// A launch of make_planes (long_planes.cu): part of a sequence, starting at a multiple of 32 symbols.
struct PlanesTask {
  const void* symbols;  // [count], one or four bytes each
  std::uint32_t* rows;  // first row of the part (common/planes.cuh); with two planes the row before it is written too
  std::uint64_t count;
};

// Results of launches of long_wavefront.cu, for the host and for later launches.
struct LongStatus {
  std::int64_t reach;  // maximum over diagonals of the query bases that both fronts together have covered
  std::int32_t met;    // first launch whose input fronts had met; later launches do nothing. 0: none
  std::int32_t unused;
};

// A launch of long_wavefront.cu: advances both fronts of a pair by some scores. Front 0 is that of the sequences,
// front 1 that of the reversed sequences; both have the same range of diagonals.
struct LongWavefrontTask {
  const std::uint32_t* query;  // row 0 (common/planes.cuh)
  const std::uint32_t* target;
  std::int64_t query_len;
  std::int64_t target_len;
  const void* input_offsets;  // [2][input_stride] input offsets of diagonals input_first, input_first + 1, ...
  void* output_offsets;       // [2][output_stride] output offsets of diagonals first, first + 1, ...
  std::int64_t input_stride;
  std::int64_t output_stride;
  std::int64_t input_first;  // first diagonals and counts are multiples of WFACLI_DIAGONALS
  std::int64_t input_count;  // diagonals outside this range have not been reached
  std::int64_t first;
  std::int64_t tiles;         // per front
  LongStatus* status;
  std::int32_t ghost;         // diagonals at either end of a tile that are not written
  std::int32_t steps[2];      // scores by which each front advances, at most `ghost`
  std::int32_t number;        // number of the launch, from 1
  std::int32_t slant;         // whether tiles may follow a steep front (long_wavefront_slant.cuh)
};

// One of the two matrices of long_bits.cu: that of the reversed sequences (0) or of the sequences (1). Each has the
// rows down to where they meet. Values carry a tag (stripe + 1) in their upper halves.
struct BitsMatrix {
  unsigned long long* edges;   // [slots][edge_words][2], deltas +1 and -1 along a stripe's last row, as bits
  unsigned long long* corner;  // [slots][2], cost at the top left corner of a stripe: low and high half
  unsigned long long* edge_read;  // [slots], tag of a stripe that has read all it needs of the edge above it
  std::int64_t stripes;        // in total
  std::int64_t padding_rows;   // padding rows of the first stripe, above the matrix
};

// A launch of long_bits.cu: some stripes of a pair's matrices, in the order (1, 0), (0, 0), (1, 1), ... of (matrix,
// stripe), or stripes of matrix 0 only. A stripe has `rows` rows, and the columns whose cells are in the band:
// column - row from `low` to `high` in both matrices, with rows and columns counted from 1.
struct LongBitsTask {
  const std::uint32_t* query;  // row 0 (common/planes.cuh)
  const std::uint32_t* target;
  std::int64_t query_len;  // neither is empty
  std::int64_t target_len;
  std::int64_t low;  // at most min(0, target_len - query_len); at least 64 less than `high`
  std::int64_t high;
  std::int64_t first;  // range of stripes, counted over both matrices; `end` is exclusive
  std::int64_t end;
  BitsMatrix matrix[2];     // the second one may have no stripes
  std::int64_t rows;        // rows of a stripe in the kernel's build
  std::int64_t edge_words;  // maximum words of a stripe's edge
  std::int64_t slots;       // stripe s uses slot s % slots; more slots than warps
  std::uint32_t* work_counter;  // stripes drawn; 0 before the launch
  std::int64_t* distance;   // result within the band, from the last stripe or from where the matrices meet
  std::int64_t* sums;       // [2][edge_words + 1], scratch of long_bits_meet
};

// Segments of one long pair's path (long_path.cuh), in matrix order: the path enters segment s from segment s + 1.
// Places of entry and exit are below 2^32, in the lower half of a word.
struct PathSegments {
  std::int64_t count;
  std::int64_t limit;        // parts, 1 to 2^30, after which a traceback from an uncertain entry is abandoned
  std::int64_t* entry;       // [count], assumed place of entry; negative: known to be right
  std::int64_t* next_entry;  // [count], entries for the next launch; the last segment's does not change
  std::int64_t* traced_entry;  // [count], the entry that exit and ops belong to; all bits set: none yet; with a limit
                               // in the upper half: the traceback from there was abandoned at that limit
  std::int64_t* exit;        // [count], where the path leaves the segment
  std::int32_t* op_count;    // [count]
  std::uint32_t* ops;        // [count][op_capacity], in path order
  std::uint32_t* work_counter;  // segments drawn; 0 before the launch
  std::uint32_t* changed;       // segments traced in this launch or still to be traced; 0 before the launch
  std::uint8_t* scratch;        // `stride` bytes of scratch for each block, 256-byte aligned
  std::uint64_t stride;
  std::int64_t op_capacity;
};

// A launch of a kernel of long_path_bits.cu: segments are stripes of matrix 0; segment s is stripe first_segment + s.
struct PathBitsTask {
  LongBitsTask bits;  // edges and stripes of matrix 0; corner, edge_read, distance and sums are unused
  PathSegments path;  // places are columns
  std::uint32_t* states;  // [count][states_per_stripe][2 * WFACLI_WORDS + 1][32], lane states; null: not saved
  std::int64_t states_per_stripe;
  std::int64_t state_interval;  // blocks of 32 columns between two states, a multiple of 4
  std::int64_t first_segment;
};

// A stored front (long_path_fronts.cu).
struct PathFront {
  const void* offsets;  // [count], offsets of diagonals first, first + 1, ...
  std::int64_t first;
  std::int64_t count;
  std::int64_t score;
};

// A launch of a kernel of long_path_fronts.cu: segment s covers the scores between stored fronts s and s + 1.
struct PathFrontsTask {
  LongWavefrontTask launch;  // front 1 only, as `output_offsets` and `input_offsets`; status is unused
  PathSegments path;         // places are diagonals, counted from -query_len
  const PathFront* fronts;   // [count + 1]; of the last one only the score is used
  std::int64_t* furthest;    // furthest anti-diagonal (upper half) and its place (lower half); null: not wanted
};

// A cell of local.cu's matrix and its score; score 0: none.
struct LocalPlace {
  std::int32_t score;
  std::int32_t unused;
  std::int64_t row;
  std::int64_t column;
};

// A launch of local.cu: some strips of the matrix of a pair's reversed sequences.
struct LocalTask {
  const std::uint8_t* query;   // [rows] codes less than n_row_codes, last symbol first
  const std::uint8_t* target;  // [columns] codes less than n_column_codes, last symbol first
  // [n_row_codes + 1][n_column_codes]; the last row, negative, is for rows below the matrix.
  const std::int8_t* scores;
  unsigned long long* row;     // [columns], cells above the first strip on input, below the last one on output
  unsigned long long* stored_rows;  // rows below every `store_every`-th strip, without the first n_stored_before
  std::uint32_t* work_counter;      // strips drawn; 0 before the launch
  std::int32_t* best_score;         // highest score so far; INT32_MAX stops the launch
  LocalPlace* best;            // by warp: its first best cell, if that had the highest score so far
  unsigned long long* tiles;   // count of tiles computed, without pruned ones
  std::uint32_t* scratch;      // tile states set aside, by warp
  const std::int32_t* barred;  // [barred_sets][rows, up to whole strips], a column that must not be aligned with the
                               // row; negative: none
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t first;  // first strip; `end` is exclusive
  std::int64_t end;
  std::int64_t store_every;  // strips between two stored rows; 0: none are stored
  std::int64_t n_stored_before;
  std::int32_t n_row_codes;
  std::int32_t n_column_codes;
  std::int32_t first_gap;  // cost of a gap of length 1
  std::int32_t extend;     // cost of each further symbol
  std::int32_t match;      // highest score of two symbols
  std::int32_t max_difference;  // maximum difference of two scores in a tile
  std::int32_t floor;      // 16-bit value of score 0 or of a tile's base; at least the cost of a gap of length 2
  std::int32_t one;        // 1, as a value that the compiler does not know
  std::int32_t prune;      // whether to prune tiles
  std::int32_t barred_sets;
};

// A range of columns of a stored row, and for local_cones a cell below it.
struct LocalCone {
  const unsigned long long* row;  // the stored row
  std::int64_t first;             // first column; `column` is the last, and for local_cones the cell's
  std::int64_t column;
  std::int64_t rows;    // from the stored row to the cell's
  std::int64_t needed;  // score at the cell of the path looked for
  std::int64_t middle;  // for local_tops: the column from which gaps are counted
  std::int64_t output_offset;  // for local_windows: cells written before these
};

// A launch of a kernel of local_cone.cu.
struct LocalConesTask {
  const LocalCone* cones;       // [count]
  unsigned long long* answers;  // [count], as each kernel defines; for local_windows all cells of all ranges
  std::int32_t parts;           // blocks per cone
  std::int32_t match;
  std::int32_t open;
  std::int32_t extend;
  std::int32_t slack;  // of the score bound
};

}  // namespace wfacli
