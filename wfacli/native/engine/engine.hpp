// The CPU engine's inner loop: rows of a batch through a kernel, results in columns.
#pragma once

#include <string>

#include "kernels/kernels.hpp"
#include "base/letters.hpp"

namespace wfacli {

enum class Algorithm : std::uint8_t { Wavefront, Lanes, Stripes, Inside, Difference, Reads, Gotoh };

// What to compute and within which bounds; wfacli.engines.cpu fills it.
struct AlignOptions {
  Costs costs;                  // as the user gave them, skip 0
  Costs units;                  // as kernels count them: normalised by wfacli/core/costs.py
  std::int32_t unit = 1;        // what one of those is worth; of costs twice as large where there is a bonus
  std::int32_t match = 0;       // what a match earns
  Ambiguous ambiguous = Ambiguous::Mismatch;
  bool extension = false;       // from both beginnings to the best end
  FreeEnds free;
  bool path = true;
  Heuristics heuristics;        // drops in the user's scores
  std::int32_t max_cost = -1;   // -1 for no bound
  Algorithm algorithm = Algorithm::Wavefront;
  Memory memory = Memory::Table;
  std::int32_t words = 1;       // of Lanes
  // Above cap_base + cap_share * longest sequence (a cost in the kernel's units) a pair is given up with WorkLimit, to be
  // aligned by another kernel; 0 and 0 for never.
  double cap_base = 0, cap_share = 0;
  std::size_t table_bytes = 0, checkpoint_bytes = 0;
};

// What an operation (=, X, I or D) on so many letters scores in the user's scheme.
std::int64_t score_of(std::uint32_t op, std::int64_t letters, const AlignOptions& options);

// Sets a score; the status where 32 bits do not hold it. INT32_MIN stands for no alignment (wfacli/core/batch.py).
void set_score(KernelAnswer& answer, std::int64_t score);
// A kernel's status as the user's: where it is ScoreLimit, whose bound on the cost it was.
Status users_status(Status status, const KernelTask& task, const AlignOptions& options);

// Columns of a PartialResult.
struct AlignedRows {
  Buffer<std::uint8_t> status, cut;
  Buffer<std::int32_t> score, span;
  Buffer<std::int64_t> cigar_start;
  Cigar cigar;
  Buffer<std::int32_t> second;  // second best scores, where they are asked for

  // Drops the rows and keeps their memory.
  void clear() {
    for (auto* column : {&status, &cut}) column->clear();
    for (auto* column : {&score, &span, &second}) column->clear();
    cigar_start.clear();
    cigar.runs().clear();
  }
};

// Adds a row whose CIGAR ends at `cigar_end` of all runs.
void add_row(const PairView& pair, const KernelAnswer& answer, std::int64_t cigar_end, AlignedRows& out);

// One thread's memory and kernels. Not safe for two threads at once.
class Aligner {
 public:
  // `isa` is for kernels_named. Throws std::invalid_argument.
  explicit Aligner(const std::string& isa);

  const char* isa() const { return entry_.name; }
  // Adds the rows' answers to `out`.
  void align(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
             const CancelFlag& cancelled, AlignedRows& out);

 private:
  // A sequence's codes with sentinels on both sides.
  struct Coded {
    Buffer<std::uint8_t> codes;
    const std::uint8_t* data() const { return codes.data() + kSentinels; }
  };

  // A pair for `inside`: what is left of it to be looked at, letters of the target before that and behind it, and what
  // was found: in the end with the path's place in inside_cigar_.
  struct InsideRow {
    InsidePair pair;
    std::int32_t before, behind;
    InsideAnswer answer;
    std::int64_t cigar;
    std::int32_t words() const { return (pair.pair.query_len + 63) / 64; }
    void narrow(std::int64_t most);
    void begin_within(std::int32_t least, std::int32_t most, std::int64_t edits);
  };

  // One pair on its way through: what it is, and what is wanted.
  struct Work {
    PairView pair;
    bool plain;               // A C G T only
    std::int32_t estimate;    // edits, or -1
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
  Buffer<std::uint8_t> codes_, masks_;  // of pairs with other letters; of all pairs
};

}  // namespace wfacli
