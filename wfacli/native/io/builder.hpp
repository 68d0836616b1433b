// Builders of PairBatch columns, used by the readers.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "base/types.hpp"

namespace wfacli {

// Sequences of a batch start at multiples of kAlign bytes. kOverread bytes follow the last one, so that wide loads stay
// inside the buffer.
constexpr std::size_t kAlign = 16, kOverread = 64;
WFACLI_INLINE std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Buffer for the bases of a batch: in memory provided by the caller while they fit, otherwise in its own.
class BaseBuffer {
 public:
  // Uses external memory, which `owner` keeps alive. Call only while the buffer is empty.
  void use_external(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> owner);
  // Returns the owner of the external memory; null if the bases are in own().
  const std::shared_ptr<void>& owner() const { return owner_; }
  Buffer<std::uint8_t>& own() { return own_; }

  std::uint8_t* data() { return owner_ ? external_ : own_.data(); }
  const std::uint8_t* data() const { return owner_ ? external_ : own_.data(); }
  std::size_t size() const { return owner_ ? used_ : own_.size(); }
  void reserve(std::size_t bytes) {
    if (!owner_) own_.reserve(bytes);
  }
  // Adds `count` uninitialised bases and returns a pointer to the first.
  std::uint8_t* extend(std::size_t count) {
    if (owner_ && used_ + count > room_) move_to_own();
    if (!owner_) return own_.extend(count);
    used_ += count;
    return external_ + (used_ - count);
  }
  // Truncates to the first `size` bases.
  void shrink(std::size_t size) {
    if (owner_)
      used_ = size;
    else
      own_.resize(size);
  }
  void append(const std::uint8_t* bases, std::size_t count) {
    if (count) std::memcpy(extend(count), bases, count);
  }

 private:
  void move_to_own();  // moves the bases from external memory to own_

  Buffer<std::uint8_t> own_;
  std::shared_ptr<void> owner_;
  std::uint8_t* external_ = nullptr;
  std::size_t room_ = 0, used_ = 0;
};

// Columns of a batch under construction; `bases` and `text` are set when the batch is taken.
struct BatchColumns {
  BaseBuffer bases;
  Buffer<std::uint8_t> text, flags;
  Buffer<std::int64_t> q_start, t_start, q_name, t_name, qual;
  Buffer<std::int32_t> q_len, t_len, q_name_len, t_name_len;
};

// Returns the union of the classes of all symbols: bits of Flag, and kIllegal.
std::uint8_t symbol_classes(std::string_view symbols);

// Stores sequences, names and other text of records. Parts are added record by record: name, sequence, quality.
class RecordParts {
 public:
  // Parts of records to store; names and lengths are always stored.
  struct Keep {
    bool bases = true, quality = true, comments = false;
    bool keys = false;  // of the names, in RecordColumns
  };
  explicit RecordParts(Keep keep) : keep_(keep) {}

  // Begins a record with its name. `header` is the length in bytes of the header that starts with the name; the rest of
  // the header is the comment.
  void name(std::string_view name, std::size_t header = 0);
  // Appends to the sequence. Returns false, and appends nothing, if a byte is invalid in a sequence; `bad` receives it.
  bool sequence(std::string_view sequence, std::uint8_t& bad);
  // Appends symbols that are known to be valid; the caller sets their classes later. With a null pointer, here and in
  // quality() and extra(), appends as many uninitialised symbols, which the caller sets later.
  void append_sequence(const char* sequence, std::int64_t count);
  void quality(std::string_view quality);
  // Appends to the quality; no other text may have been added since quality().
  void more_quality(std::string_view quality);
  // Adds other text to the record and returns its offset.
  std::int64_t extra(std::string_view text);

  // Returns the name of the open record; empty between records.
  std::string_view current_name() const {
    if (!open_) return {};
    return {reinterpret_cast<const char*>(text_.data()) + name_, name_len_};
  }
  std::int64_t sequence_length() const { return len_; }
  bool is_open() const { return open_; }  // inside a record

 protected:
  // Pads the record's sequence with zeros to a multiple of kAlign.
  void pad_sequence();
  // Removes the open record.
  void drop_open();

  BaseBuffer bases_;
  Buffer<std::uint8_t> text_;
  Keep keep_;
  bool open_ = false;
  std::int64_t name_ = 0, start_ = 0, len_ = 0, quality_ = -1;
  std::size_t name_len_ = 0, header_len_ = 0;
  std::uint8_t classes_ = 0;

 private:
  void begin_record();
};

// Location of a record's parts: an offset >= 0 into the lines that it was parsed from, or ~offset into the copies in
// RecordColumns.
struct RecordLocation {
  static constexpr std::int64_t kNone = INT64_MIN;  // `quality` of a record without one
  std::int64_t name, sequence, quality;
  std::int32_t name_len, len, header_len;  // header_len: name and comment
  std::uint8_t flags;
};

// What records need in a batch, in bytes.
struct RecordBytes {
  std::int64_t symbols = 0, bases = 0, text = 0;  // bases: the symbols, each sequence padded; text: names and qualities
  void add(const RecordLocation& record) {
    symbols += record.len;
    bases += static_cast<std::int64_t>(aligned(static_cast<std::size_t>(record.len)));
    text += record.name_len + (record.quality == RecordLocation::kNone ? 0 : record.len);
  }
  RecordBytes operator-(const RecordBytes& o) const { return {symbols - o.symbols, bases - o.bases, text - o.text}; }
};

// Records of one file, as locations in lines or in copies.
struct RecordColumns {
  const std::uint8_t* lines = nullptr;  // not owned
  Buffer<std::uint8_t> bases, text;     // copies
  Buffer<RecordLocation> locations;
  Buffer<RecordBytes> sums;             // of each record and those before it
  Buffer<std::uint64_t> keys;           // NameSet::key() of each name, if they are kept

  void clear() { locations.clear(), sums.clear(), keys.clear(); }
  // Returns what `count` records from `first` on need. Records themselves may be in the cache of another core.
  RecordBytes bytes_of(std::size_t first, std::size_t count) const {
    if (count == 0) return {};
    return first ? sums[first + count - 1] - sums[first - 1] : sums[count - 1];
  }
  std::size_t size() const { return locations.size(); }
  const std::uint8_t* bases_at(std::int64_t place) const { return place < 0 ? bases.data() + ~place : lines + place; }
  const std::uint8_t* text_at(std::int64_t place) const { return place < 0 ? text.data() + ~place : lines + place; }
};

// Builder of RecordColumns. Records that are complete in the lines are referenced there; others are copied in parts.
class RecordBuilder : public RecordParts {
 public:
  using RecordParts::RecordParts;
  // Sets whether records may reference the lines that they are parsed from, which must then stay in place.
  void allow_references(bool may) { references_allowed_ = may; }
  bool references_allowed() const { return references_allowed_; }
  // Adds a complete record by reference to lines that begin at `lines`. Returns false, and adds nothing, if a byte is
  // invalid in a sequence. `header`: length of name and comment; `quality`: null if there is none.
  bool add(const char* lines, std::string_view name, std::size_t header, std::string_view sequence,
           const char* quality);
  void end_record();
  // Removes the open record, if any.
  void drop_record() { drop_open(); }
  std::int64_t bases_stored() const { return total_.symbols; }
  std::size_t records() const { return c_.size(); }
  // Moves the records except an open one to `columns`, whose former content is discarded and its memory reused.
  void take(RecordColumns& columns);

 private:
  void add(const RecordLocation& record, std::string_view name);

  RecordColumns c_;
  RecordBytes total_;  // of the records in c_
  bool references_allowed_ = true;
};

// Pairs of a batch whose records are still to be copied from two files; of targets only if `queries` is null.
struct PairCopy {
  std::shared_ptr<const RecordColumns> queries, targets;
  std::size_t query = 0, target = 0, count = 0;    // their first records, and how many
  std::size_t row = 0, bases_at = 0, text_at = 0;  // where they go: first row, and offsets of their bases and text
  bool keep_bases = true;

  // Copies them into columns whose bases and text are at these addresses.
  void copy_to(BatchColumns& columns, std::uint8_t* bases, std::uint8_t* text) const;
};

// A batch of which some records are still to be copied.
struct PendingPairs {
  BatchColumns columns;
  std::vector<PairCopy> copies;

  // Copies them and returns the batch. Call it once.
  BatchColumns complete();
};

// Builder of batches of pairs: add the parts of a query, end_query(), the parts of its target, end_target(); or add
// records of two files at once.
class BatchBuilder : public RecordParts {
 public:
  // With keep_bases false, only names and lengths are stored.
  explicit BatchBuilder(bool keep_bases) : RecordParts({keep_bases, keep_bases}) {}

  // Provides memory for the bases of the next batch, which `owner` keeps alive. Throws std::logic_error if the batch
  // is not empty.
  void use_external(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> owner);
  // Reserves space for `pairs` pairs with `bases` bases in total.
  void reserve(std::int64_t pairs, std::int64_t bases);
  void end_query();
  void end_target();
  // Lets threads copy records that are added with a share in their memory, when copy_all() is called.
  void use_pool(std::shared_ptr<ThreadPool> pool) { pool_ = std::move(pool); }
  // Copies all records that are still to be copied, so that take() leaves nothing to do.
  void copy_all();
  // Adds up to `max_pairs` pairs, of records from q and t on, until the batch reaches `weight`; with a null pointer
  // `queries`, of empty, unnamed queries. Returns the number of pairs added. Records without a share in their memory
  // (use_count() is 0) are copied before it returns.
  std::size_t add_pairs(std::shared_ptr<const RecordColumns> queries, std::size_t q,
                        std::shared_ptr<const RecordColumns> targets, std::size_t t, std::size_t max_pairs,
                        std::int64_t weight);

  std::int64_t pairs() const { return static_cast<std::int64_t>(c_.t_len.size()); }
  // Returns the memory of use_external(), for a batch that is built elsewhere; without bases.
  BaseBuffer take_memory() { return std::exchange(bases_, BaseBuffer()); }
  // Returns the size of the batch, in bases. Each pair counts 16 extra, so that empty pairs fill a batch too.
  std::int64_t weight() const { return weight_ + kPairWeight * pairs(); }
  // Returns the complete pairs and starts a new batch. A query without its target, left by an input error, is
  // discarded.
  PendingPairs take();

  static constexpr std::int64_t kPairWeight = 16;

 private:
  static constexpr std::size_t kMaxCopies = 64;  // records that wait to be copied keep the blocks of files in memory
  void reserve_rows(std::size_t rows);
  void end_sequence(Buffer<std::int64_t>& start, Buffer<std::int32_t>& len);
  // Adds rows for the records of a copy, and copies them now or later.
  void add(PairCopy copy);

  BatchColumns c_;
  std::shared_ptr<ThreadPool> pool_;  // null: this thread copies all records
  std::vector<PairCopy> copies_;
  std::int64_t weight_ = 0;
  std::uint8_t pair_classes_ = 0;
};

}  // namespace wfacli
