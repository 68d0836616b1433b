// The CPU engine's inner loop: rows of a batch through a kernel, results in columns.
#pragma once

#include <string>

#include "letters.hpp"
#include "wavefront.hpp"

namespace wfacli {

// What to compute and within which bounds; wfacli.engines.cpu fills it.
struct AlignOptions {
  Metric metric = Metric::Affine;
  Costs costs;  // as the user gave them
  Ambiguous ambiguous = Ambiguous::Mismatch;
  Memory memory = Memory::Table;
  std::size_t table_bytes = 0, checkpoint_bytes = 0;
};

// Columns of a PartialResult.
struct AlignedRows {
  Buffer<std::uint8_t> status;
  Buffer<std::int32_t> score, span;
  Buffer<std::int64_t> cigar_start;
  Cigar cigar;
};

// One thread's memory and kernel. Not safe for two threads at once.
class Aligner {
 public:
  // `isa` names an entry of kernel_table; empty takes the fastest. Throws std::invalid_argument.
  explicit Aligner(const std::string& isa);

  const char* isa() const { return entry_.name; }
  void align(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignOptions& options,
             const CancelFlag& cancelled, AlignedRows& out);

 private:
  Status align_pair(const PairView& pair, std::uint8_t flags, const AlignOptions& options, const CancelFlag& cancelled,
                    AlignedRows& out, std::int32_t& score);
  void release_excess();

  KernelEntry entry_;
  KernelMemory memory_;
  Buffer<std::uint8_t> query_, target_;  // codes, reversed, with sentinels
};

}  // namespace wfacli
