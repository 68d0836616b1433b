// Inner loop of the CPU engine: align rows of a batch with one kernel and return the results as columns.
#pragma once

#include <string>

#include "kernels/kernels.hpp"
#include "base/symbols.hpp"

namespace wfacli {

enum class Algorithm : std::uint8_t { Wavefront, Lanes, Stripes, Inside, Difference, Reads, Gotoh };

// What to compute and within which bounds; filled by wfacli.engines.cpu.
struct AlignOptions {
  Costs costs;                  // the user's costs; skip is 0
  Costs units;                  // the kernels' costs, normalised by wfacli/core/costs.py
  std::int32_t unit = 1;        // value of a unit of `units` in the user's costs, or in half-costs with a match bonus
  std::int32_t match = 0;       // match bonus
  Ambiguous ambiguous = Ambiguous::Mismatch;
  bool extension = false;       // align from both beginnings to the best-scoring end
  FreeEnds free;
  bool path = true;             // compute the CIGAR
  Heuristics heuristics;        // drops in the user's scores
  std::int32_t max_cost = -1;   // -1: unbounded
  Algorithm algorithm = Algorithm::Wavefront;
  Memory memory = Memory::Table;
  std::int32_t words = 1;       // band width of Lanes in words of 64 diagonals
  // A pair that costs more than cap_base + cap_share * longer length, in units of `units`, gets WorkLimit, so that
  // another kernel aligns it. Both 0: no cap.
  double cap_base = 0, cap_share = 0;
  std::size_t table_bytes = 0, checkpoint_bytes = 0;
};

// Return the score of an operation (=, X, I, D, or M: an ambiguous base with a penalty of its own) over `length` bases in the user's scheme.
std::int64_t score_of(std::uint32_t op, std::int64_t length, const AlignOptions& options);

// Set the score, or the status ScoreRange if the score does not fit 32 bits. INT32_MIN is reserved for pairs without
// an alignment (wfacli/core/batch.py).
void set_score(KernelAnswer& answer, std::int64_t score);
// Translate a kernel's status: ScoreLimit becomes WorkLimit unless the user's own maximum cost was exceeded.
Status user_status(Status status, const KernelTask& task, const AlignOptions& options);

// Columns of a PartialResult.
struct AlignedRows {
  Buffer<std::uint8_t> status, cut;
  Buffer<std::int32_t> score, span;
  Buffer<std::int64_t> cigar_start;
  Cigar cigar;
  Buffer<std::int32_t> second;  // second best scores; empty unless requested

  // Remove all rows and keep the memory.
  void clear() {
    for (auto* column : {&status, &cut}) column->clear();
    for (auto* column : {&score, &span, &second}) column->clear();
    cigar_start.clear();
    cigar.runs().clear();
  }
};

// Append a row whose CIGAR ends at element `cigar_end` of all CIGARs.
void add_row(const PairView& pair, const KernelAnswer& answer, std::int64_t cigar_end, AlignedRows& out);

// The kernels and the memory of one thread; not thread-safe.
class Aligner {
 public:
  // `isa`: see kernels_named. Throws std::invalid_argument.
  explicit Aligner(const std::string& isa);

  const char* isa() const { return entry_.name; }
  // Align `count` rows and append their results to `out`.
  void align(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
             const CancelFlag& cancelled, AlignedRows& out);

 private:
  // Codes of a sequence, with kSentinels sentinels on both sides.
  struct Coded {
    Buffer<std::uint8_t> codes;
    const std::uint8_t* data() const { return codes.data() + kSentinels; }
  };

  // A pair for the `inside` kernel: the window of the target that remains, the numbers of target bases before and
  // after it, the kernel's answer, and the start of the CIGAR in inside_cigar_.
  struct InsideRow {
    InsidePair pair;
    std::int32_t before, after;
    InsideAnswer answer;
    std::int64_t cigar;
    std::int32_t words() const { return (pair.pair.query_len + 63) / 64; }
    void narrow(std::int64_t max_cost);
    void begin_within(std::int32_t min_skip, std::int32_t max_skip, std::int64_t edits);
  };

  // One pair, and what to compute for it.
  struct Work {
    PairView pair;
    bool plain;               // A C G T only
    std::int32_t estimate;    // estimated edits, or -1
    const AlignOptions& options;
    const CancelFlag& cancelled;
  };

  void align_lanes(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
                   const CancelFlag& cancelled, AlignedRows& out);
  void align_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
                   const CancelFlag& cancelled, AlignedRows& out);
  void align_inside(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
                    const CancelFlag& cancelled, AlignedRows& out);
  static InsideRow row_of(const PairView& pair, const AlignOptions& options);
  void solve_inside(bool path, const AlignOptions& options, const CancelFlag& cancelled);
  KernelAnswer search_inside(const Work& work, Cigar& cigar);
  KernelAnswer align_window(const Work& whole, const InsideRow& row, Cigar& cigar);
  void take_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options);
  KernelAnswer align_pair(const Work& work, Cigar& cigar);
  KernelAnswer find_end(const KernelTask& task, Algorithm algorithm, Cigar& cigar);
  KernelAnswer solve(const KernelTask& task, Algorithm algorithm, Cigar& cigar);
  KernelTask task_of(const Work& work);
  void encode(const PairView& pair, bool plain, Ambiguous rule, bool reversed);
  void release_excess();

  KernelEntry entry_;
  KernelMemory memory_;
  Coded query_, target_;
  Buffer<PairView> pairs_;
  Buffer<LanesAnswer> lanes_;
  Buffer<ReadsAnswer> reads_;
  Buffer<InsideRow> inside_;
  Buffer<InsidePair> inside_pairs_;
  Buffer<InsideAnswer> inside_answers_;
  Buffer<std::int32_t> inside_order_;
  Cigar inside_cigar_;
  Buffer<std::uint8_t> codes_, masks_;  // codes of pairs with bases other than A C G T; a mask per pair
};

}  // namespace wfacli
