// Batches of mapped reads: the reader notes what each row consists of, and another thread may copy it.
#pragma once

#include <memory>
#include <vector>

#include "io/builder.hpp"
#include "io/reference.hpp"

namespace wfacli {

// Columns of wfacli.core.batch.Mapped.
struct MappedColumns {
  Buffer<std::int64_t> t_offset, t_total, read_start, tags;
  Buffer<std::int32_t> clip_begin, clip_end, first, sam_flags, tags_len;
  Buffer<std::uint8_t> mapq;
  Buffer<std::int32_t> inner;  // q_beg q_end t_beg t_end of the mapped parts, relative to the row
};

struct MappedBatch {
  BatchColumns pairs;
  MappedColumns mapped;
};

// Text of a row: in memory that lasts, or at an offset of the batch's own copies.
struct KeptText {
  const char* lasting = nullptr;
  std::int64_t at = 0;
  std::int32_t size = 0;
};

// A row: a part of a read, and the window of a target; or an unmapped read, whose target is -1.
struct MappedRow {
  KeptText name, tags, bases, quality;  // of the whole read as sequenced
  bool has_quality = false;
  bool whole = false;    // bases and quality of the whole read are stored
  bool reverse = false;  // the read is on the reverse strand
  std::uint8_t mapq = 0;
  std::int32_t target = -1, first = 0, flags = 0;
  std::int64_t t_beg = 0, t_end = 0;  // window of the target
  std::int32_t q_beg = 0, q_len = 0;  // part of the read as sequenced
  std::int32_t clip_begin = 0, clip_end = 0;  // bases of the read before and after it, on the aligned strand
  std::int32_t inner[4] = {};
};

// A batch whose rows are still to be copied.
struct PendingMapped {
  BaseBuffer memory;  // for the bases
  Buffer<MappedRow> rows;
  Buffer<char> kept;  // copies of texts that do not last
  std::vector<std::shared_ptr<const RecordColumns>> lasting;  // keeps the others

  // Copies all rows, with targets out of the reference, and returns the batch. Call it once.
  // Throws what the loader of the reference throws.
  MappedBatch complete(const Reference& reference);
};

}  // namespace wfacli
