// The contract between the host and the kernels: plain values and addresses in the GPU's memory.
// wfacli/gpu/runtime/task.py mirrors the layout; a test compares both.
#pragma once

#include "common/platform.cuh"

namespace wfacli {

// Values of wfacli.core.batch.Status.
enum class Status : std::uint8_t {
  Ok, ScoreLimit, MemoryLimit, LengthLimit, Dropped, Unsupported, WorkLimit, ScoreRange
};

// Operations of a CIGAR as BAM numbers them; an element is length << 4 | operation.
enum Op : std::uint32_t { kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8 };

// The sequences of a batch (wfacli.core.batch.PairBatch) on the GPU. A sequence starts at a multiple of 16 letters, so
// one number says where: letter 16 * start of `codes` is in word `start` of `packed`.
struct Sequences {
  // 2 bits a letter (common/letters.cuh), 16 letters a word, the first in the lowest bits, as in the file's order;
  // kGuard words can be read before and after. For pairs of A C G T only.
  const std::uint32_t* packed;
  // A byte a letter (wfacli/native/base/letters.hpp), by the --ambiguous rule; null where no pair needs it.
  const std::uint8_t* codes;
  const std::uint32_t* query_start;  // [n]
  const std::uint32_t* target_start;
  const std::int32_t* query_len;  // [n]
  const std::int32_t* target_len;
};

constexpr int kGuard = 8;  // words

// A match costs 0; a gap of l letters costs the least of open[k] + l * extend[k] over its pieces. Divided by their
// greatest common divisor.
struct Costs {
  std::int32_t mismatch;
  std::int32_t pieces;  // 1 or 2
  std::int32_t open[2];
  std::int32_t extend[2];
};

// A launch of an alignment kernel. Slot s (0 <= s < count) is row rows[s] of the batch. Cells are those of the
// reversed sequences: (0, 0) is the end of both, and the way back from (query_len, target_len) meets the canonical
// operations in forward order.
struct AlignTask {
  Sequences seq;
  const std::int32_t* rows;  // [count]

  // Answers, [count] each. cost is in units of costs. ops of slot s: op_count[s] elements from ops + s * op_capacity,
  // adjacent ones different, in forward order; none where status is not Ok, or without the path.
  std::uint8_t* status;
  std::int32_t* cost;
  std::int32_t* op_count;
  std::uint32_t* ops;

  // The kernel's own memory: `stride` bytes for each of its units of work (see the kernel), 256-byte aligned.
  std::uint8_t* workspace;
  std::uint64_t stride;
  std::uint32_t* next;  // 0 before the launch: where resident groups draw from what there is to do

  Costs costs;
  std::int32_t count;
  std::int32_t op_capacity;  // elements a slot; a pair that needs more gets MemoryLimit
  std::int32_t max_cost;     // in units of costs; a pair above it gets ScoreLimit
  std::int32_t longest;      // letters of the longest sequence of the launch; bounds loops and strides
  std::int32_t path;         // whether the ops are wanted
  std::int32_t wildcard;     // codes match when they share a bit, else when they are equal

  // The heuristic of banded kernels; others leave `cut` as it is.
  std::int32_t band;       // diagonals on either side of the most promising one
  std::int32_t band_step;  // scores after which that one is looked for again; 0: never

  // Of wavefronts (wfa.cu): up to which cost pairs are looked at first, no less than most of them cost.
  std::int32_t first_cost;
  std::uint8_t* cut;       // [count], 1 where the band left out what could have been reached; null: nobody asks

  // Of tiles (dp_tiles.cu): [count], diagonals of each slot's own band, no more than `band`; null: all have that.
  const std::int32_t* bands;
};

// Which parts of two sequences an alignment under any scores of letters covers; values of wfacli.gpu.kernels.sw.Rule.
enum class SwRule : std::int32_t {
  Local,       // the best-scoring parts of both
  Semiglobal,  // the query whole
  Global,      // both whole
  Extension,   // from both beginnings to the best end
};

constexpr int kSwCodes = 32;  // of letters and of what lies beyond a sequence

// A launch of sw.cu. Slot s (0 <= s < count) is row rows[s] of the batch; neither of its sequences is empty.
struct SwTask {
  Sequences seq;  // only codes, less than `codes`
  const std::int32_t* rows;  // [count], of each slot

  // Answers, of each row, and ops as in AlignTask, of each slot. span: query_begin, query_end, target_begin, target_end;
  // zeros where nothing is aligned. Without the path it is all letters; sw_guided.cu says with a query_begin of -1 that it
  // has left something out.
  std::uint8_t* status;
  std::int32_t* score;
  std::int32_t* op_count;
  std::uint32_t* ops;
  int4* span;

  // The kernel's own memory: `stride` bytes for each group of lanes that is resident, or of the launch where directions of
  // all cells are kept; 256-byte aligned.
  std::uint8_t* workspace;
  std::uint64_t stride;
  std::uint32_t* next;  // 0 before the launch: where resident warps draw slots from

  // [count], of each slot: how many letters of the query (x) and of the target (y) there are, from the beginnings;
  // null: all of them.
  const int2* prefixes;
  int2* ends;  // [count], of each slot: the best prefixes that Extension found, or where ways back begin; else unused

  std::int32_t codes;  // 1 to 30
  // Scores and costs come in units, by which all of a scheme's can be divided; answers are multiplied by it.
  std::int32_t unit;
  std::int32_t open;  // a gap of l letters costs open + l * extend
  std::int32_t extend;
  std::int32_t most;  // of all scores
  std::int32_t count;
  std::int32_t op_capacity;      // elements a slot; a pair that needs more gets MemoryLimit
  std::int32_t longest_query;    // letters, of the launch; bound strides
  std::int32_t longest_target;
  SwRule rule;
  std::uint32_t same;  // bit c: whether code c beside itself is written =

  // Bytes [kSwCodes][kSwCodes]: score of a target's code (row) and a query's. Code `codes` stands for what lies beyond
  // either, and scores less than 0 and no more than any letters do.
  std::uint32_t scores[kSwCodes * kSwCodes / 4];
  // Of sw_guided.cu: diagonals on either side, no more than letters of the longest sequence; and by how many units an
  // anti-diagonal's best score may fall, beside what a gap extends by.
  std::int32_t band;
  std::int32_t drop;
};

// A launch of pack_letters (pack.cu).
struct PackTask {
  const std::uint8_t* bases;  // [letters], 16-byte aligned
  std::uint32_t* packed;      // [letters / 16], what Sequences::packed is to be; kGuard words on either side become 0
  std::uint64_t letters;      // a multiple of 16
};

// A launch of encode_letters (pack.cu).
struct EncodeTask {
  const std::uint8_t* bases;   // 16-byte aligned, as are all sequences in it; padded to a multiple of 16 letters
  std::uint8_t* codes;         // what Sequences::codes is to be
  const std::uint8_t* tables;  // [2][256], codes of the query's letters and of the target's, 16-byte aligned
  const std::int32_t* rows;    // [count], of the batch
  const std::uint32_t* query_start;
  const std::uint32_t* target_start;
  const std::int32_t* query_len;
  const std::int32_t* target_len;
  std::int32_t count;
};

// A launch of the kernels in cigar.cu, which lay the operations of an AlignTask end to end.
struct GatherTask {
  const std::int32_t* op_count;  // [count], of the AlignTask; 16-byte aligned
  const std::uint32_t* ops;      // of the AlignTask
  const std::int32_t* rows;      // [count], of gather_ops: each slot's place in op_count and start; null: its own
  std::int64_t* start;           // [count + 1], where each slot's operations start in cigar, and their total
  std::int64_t* sums;            // [chunks], memory of the kernels' own
  std::uint32_t* cigar;          // [start[count]]
  std::int64_t chunk;            // slots that a block takes in one piece; a multiple of 4
  std::int32_t chunks;           // pieces of `count`, at least 1
  std::int32_t count;
  std::int32_t op_capacity;  // elements a slot in ops
  std::int32_t lanes_log2;   // 2^lanes_log2 threads copy a slot's operations
};

// A launch of make_planes (long_letters.cu): a piece of a sequence that begins at a multiple of 32 letters.
struct PlanesTask {
  const void* letters;  // [count], a byte each, or four
  std::uint32_t* rows;  // the piece's first row (common/planes.cuh); with two planes the one before it changes too
  std::uint64_t count;
};

// What launches of long_wavefront.cu tell the host and each other.
struct LongStatus {
  std::int64_t reach;  // most letters of the query that both fronts have behind them on one diagonal
  std::int32_t met;    // number of the first launch that found the fronts it got to have met; later ones do nothing. 0: none
  std::int32_t unused;
};

// A launch of long_wavefront.cu: both fronts of a pair, some scores further. Front 0 is of the sequences, front 1 of the
// reversed sequences; both have the same diagonals.
struct LongWavefrontTask {
  const std::uint32_t* query;  // row 0 (common/planes.cuh)
  const std::uint32_t* target;
  std::int64_t query_len;
  std::int64_t target_len;
  const void* from;           // [2][from_stride] offsets, of diagonals from_first, from_first + 1, ...
  void* to;                   // [2][to_stride] offsets, of diagonals first, first + 1, ...
  std::int64_t from_stride;
  std::int64_t to_stride;
  std::int64_t from_first;    // diagonals and counts of them are multiples of WFACLI_DIAGONALS
  std::int64_t from_count;    // no other diagonal has been reached
  std::int64_t first;
  std::int64_t tiles;         // of each front
  LongStatus* status;
  std::int32_t ghost;         // diagonals at either end of a tile that are not written
  std::int32_t steps[2];      // scores that each front goes on, up to `ghost`
  std::int32_t number;        // of the launch, from 1
  std::int32_t slant;         // whether tiles where that may be better go along with the front (long_wavefront_slant.cuh)
};

// One of the two matrices of long_bits.cu: that of the reversed sequences (0) and that of the sequences (1), of which each
// has the rows down to where the two meet. Values have tags (stripe + 1) in their upper halves.
struct BitsMatrix {
  unsigned long long* edges;   // [slots][edge_words][2], where costs rise and fall behind a stripe's last row
  unsigned long long* corner;  // [slots][2], the cost at the top left of a stripe: its lower half and its upper one
  unsigned long long* read;    // [slots], the stripes that have read all that they need of the one before
  std::int64_t stripes;        // in all
  std::int64_t above;          // rows of the first stripe that lie above the matrix
};

// A launch of long_bits.cu: some stripes of a pair's matrices, in the order (1, 0), (0, 0), (1, 1), ... of matrix and stripe,
// or all of matrix 0. A stripe has `rows` rows and those columns where cells are in the band: column - row from `low` to `high`, the same in
// both matrices, with rows and columns counted from 1.
struct LongBitsTask {
  const std::uint32_t* query;  // row 0 (common/planes.cuh)
  const std::uint32_t* target;
  std::int64_t query_len;  // neither is empty
  std::int64_t target_len;
  std::int64_t low;  // at most min(0, target_len - query_len); at least 64 less than `high`
  std::int64_t high;
  std::int64_t first;  // of the stripes of both matrices, and the one behind the last
  std::int64_t end;
  BitsMatrix matrix[2];     // the second one may have no stripes
  std::int64_t rows;        // as the kernel's build has it
  std::int64_t edge_words;  // that a stripe has at most
  std::int64_t slots;       // stripe s has slot s % slots; more than there are warps
  std::uint32_t* next;      // 0 before the launch: how many stripes are drawn
  std::int64_t* distance;   // of all of the band: from the last stripe, or where the matrices meet
  std::int64_t* sums;       // [2][edge_words + 1] for long_bits_meet
};

// Pieces of one long pair's path (long_path.cuh), one after the other in the order of the matrix: the path comes into
// segment s from segment s + 1. Places where it does are numbers below 2^32, in the lower half of a word.
struct PathSegments {
  std::int64_t count;
  std::int64_t limit;        // parts, from 1 to 2^30, after which a walk is given up that may begin at a wrong place
  std::int64_t* entry;       // [count], where each is believed to be entered; negative: it is
  std::int64_t* next_entry;  // [count], the same after the launch; that of the last is what it was
  std::int64_t* walked;      // [count], the entry that exit and ops belong to; all bits set: none; with a limit in the
                             // upper half, one from which a walk was given up
  std::int64_t* exit;        // [count], where it is left
  std::int32_t* op_count;    // [count]
  std::uint32_t* ops;        // [count][op_capacity], in the path's order
  std::uint32_t* drawn;      // 0 before the launch: segments that are drawn
  std::uint32_t* changed;    // 0 before the launch: segments that were walked in it, or are still to be
  std::uint8_t* room;        // `stride` bytes for each block, 256-byte aligned
  std::uint64_t stride;
  std::int64_t op_capacity;
};

// A launch of a kernel of long_path_bits.cu: stripes of matrix 0 alone are segments; segment s is stripe first_segment + s.
struct PathBitsTask {
  LongBitsTask bits;  // of matrix 0, its edges and its stripes; corner, read, distance and sums are not used
  PathSegments path;  // places are columns
  std::uint32_t* states;  // [count][states_each][2 * WFACLI_WORDS + 1][32], of lanes; null: none are kept
  std::int64_t states_each;
  std::int64_t every;  // blocks of 32 columns from one state to the next, a multiple of 4
  std::int64_t first_segment;
};

// A front that is kept (long_path_fronts.cu).
struct PathFront {
  const void* offsets;  // [count], of diagonals first, first + 1, ...
  std::int64_t first;
  std::int64_t count;
  std::int64_t score;
};

// A launch of a kernel of long_path_fronts.cu: segment s has the scores between kept fronts s and s + 1.
struct PathFrontsTask {
  LongWavefrontTask fronts;  // of front 1 alone, as `to` and `from`; status is not used
  PathSegments path;         // places are diagonals, counted from -query_len
  const PathFront* kept;     // [count + 1]; of the last one only the score matters
  std::int64_t* furthest;    // the furthest antidiagonal and its place, in the upper half and the lower one; null: nobody asks
};

// A cell of local.cu's matrix and its score; score 0: none.
struct LocalPlace {
  std::int32_t score;
  std::int32_t unused;
  std::int64_t row;
  std::int64_t column;
};

// A launch of local.cu: some strips of a pair's matrix, of the reversed sequences.
struct LocalTask {
  const std::uint8_t* query;   // [rows] codes, less than row_letters, from the last letter on
  const std::uint8_t* target;  // [columns] codes, less than letters
  const std::int8_t* scores;   // [row_letters + 1][letters]; the last row, less than 0, is of what lies below the matrix
  unsigned long long* row;     // [columns], cells above the first strip, which those below the last one replace
  unsigned long long* kept;    // the rows below each `keep` strips, but for the first kept_before of them
  std::uint32_t* next;         // 0 before the launch: strips that are drawn
  std::int32_t* known;         // the best score known; the greatest number: the launch is to end
  LocalPlace* best;            // of each warp: the first best cell, if its score was the best known
  unsigned long long* tiles;   // that were computed and not left out
  std::uint32_t* scratch;      // of each warp
  const std::int32_t* barred;  // [barred_sets][rows, in whole strips], a column whose letter the row's is not to be aligned
                               // with; negative: none
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t first;  // strip, and the one behind the last
  std::int64_t end;
  std::int64_t keep;  // 0: no row is kept
  std::int64_t kept_before;
  std::int32_t row_letters;
  std::int32_t letters;
  std::int32_t first_gap;  // what a gap's first letter costs
  std::int32_t extend;     // and each further one
  std::int32_t match;      // the most that two letters score
  std::int32_t apart;      // by which scores in a tile may differ at most
  std::int32_t floor;      // what a score of 0, or of the base, is in 16 bits: no less than a gap of two letters costs
  std::int32_t one;        // 1, which the compiler does not know
  std::int32_t prune;      // whether tiles may be left out
  std::int32_t barred_sets;
};

// Some columns of a kept row, and for local_cones a cell below it.
struct LocalCone {
  const unsigned long long* row;  // the kept row
  std::int64_t first;             // column, and the last one, in which the cell is
  std::int64_t column;
  std::int64_t rows;    // from the kept one to the cell's
  std::int64_t needed;  // what a path scores that comes to the cell
  std::int64_t middle;  // for local_tops: the column from which gaps are counted
  std::int64_t to;      // cells that local_windows puts before these
};

// A launch of a kernel of local_cone.cu.
struct LocalConesTask {
  const LocalCone* cones;       // [count]
  unsigned long long* answers;  // [count], as the kernel says; of local_windows: of all their columns
  std::int32_t parts;           // blocks of each
  std::int32_t match;
  std::int32_t open;
  std::int32_t extend;
  std::int32_t spare;  // that a path may have more, in the cell or the row
};

}  // namespace wfacli
