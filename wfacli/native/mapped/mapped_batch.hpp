// Batches of mapped reads: the reader notes what each row consists of, and another thread makes and copies it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/builder.hpp"
#include "io/reference.hpp"
#include "mapped/mapped_window.hpp"
#include "mapped/read_spill.hpp"

namespace wfacli {

// Columns of wfacli.core.batch.Mapped.
struct MappedColumns {
  Buffer<std::int64_t> t_offset, t_total, read_start, tags;
  Buffer<std::int32_t> clip_begin, clip_end, first, sam_flags, tags_len;
  Buffer<std::uint8_t> mapq;
  Buffer<std::int32_t> inner;  // q_beg q_end t_beg t_end of the mapped parts, relative to the row
  Buffer<std::int32_t> room;   // the same of what an extension may reach while all other mappings of the read count
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
  std::int32_t inner[4] = {}, room[4] = {};
};

// What rows have of their reads and mappings.
struct RowOptions {
  WindowOptions window;
  bool whole_reads = true;  // bases and qualities of whole reads, for SAM
  bool copy_tags = false;   // SAM tags from the comments of reads,
  bool copy_group = false;  // or only the read group
  bool read_group = false;  // all records get the read group of the output options
  bool has_comments() const { return copy_tags || copy_group; }
};

// Makes the rows of one read after another.
class RowMaker {
 public:
  // Texts that do not last are added to `kept`. All must outlive the maker.
  RowMaker(const Reference& reference, const RowOptions& options, Buffer<char>& kept)
      : reference_(reference), options_(options), kept_(kept) {}

  // Begins the rows of a read. `first`: the first row of its template.
  void begin(const ReadView& read, std::int32_t first);
  // Returns the row of a mapping of the read.
  MappedRow mapped(const Mapping& mapping, const Room& room, bool with_bases);
  // Returns the row of an unmapped read. `mapping`: its unmapped record, or null.
  MappedRow unmapped(std::int32_t flags, const Mapping* mapping);

 private:
  KeptText keep(std::string_view text);
  KeptText tags_of(const Mapping* mapping);

  const Reference& reference_;
  const RowOptions& options_;
  Buffer<char>& kept_;
  MappedRow row_;           // what all rows of the read have
  std::string tags_;        // tags of the read
  bool has_group_ = false;  // tags_ contain a read group
};

// Sets the view of a record.
void view_record(const RecordColumns& records, std::size_t at, bool comment, ReadView& read);

// A read with a single mapping, whose row another thread makes.
struct LoneRead {
  Mapping* mapping;
  const RecordColumns* records;
  std::uint32_t at;      // record
  std::uint32_t before;  // number of PendingMapped::rows before it
};

// A batch whose rows are still to be copied.
struct PendingMapped {
  BaseBuffer memory;  // for the bases
  Buffer<MappedRow> rows;
  Buffer<LoneRead> lone;  // further rows
  Buffer<char> kept;      // copies of texts that do not last
  std::vector<std::shared_ptr<const RecordColumns>> lasting;  // keeps the others,
  std::vector<std::shared_ptr<void>> mappings;                // and the mappings of lone reads
  const RowOptions* options = nullptr;                        // of the reader, which outlives the batch

  std::size_t size() const { return rows.size() + lone.size(); }
  // Copies all rows, with targets out of the reference, and returns the batch. Call it once.
  // Throws what the loader of the reference throws.
  MappedBatch complete(const Reference& reference);

 private:
  void make_rows(const Reference& reference);
};

}  // namespace wfacli
