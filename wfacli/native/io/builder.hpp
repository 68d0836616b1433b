// Columns of a PairBatch while it is read.
#pragma once

#include <memory>
#include <string_view>

#include "base/types.hpp"

namespace wfacli {

// Sequences of a batch begin at multiples of kAlign; behind the last one is so much that a wide load stays inside.
constexpr std::size_t kAlign = 16, kOverread = 64;
WFACLI_INLINE std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Letters of a batch: in memory that somebody lends while they fit, in their own otherwise.
class LetterBuffer {
 public:
  // Takes lent memory, which `lender` keeps alive; only while there are no letters.
  void lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender);
  // Who keeps the letters alive; none where they are in own().
  const std::shared_ptr<void>& lender() const { return lender_; }
  Buffer<std::uint8_t>& own() { return own_; }

  std::uint8_t* data() { return lender_ ? lent_ : own_.data(); }
  const std::uint8_t* data() const { return lender_ ? lent_ : own_.data(); }
  std::size_t size() const { return lender_ ? used_ : own_.size(); }
  void reserve(std::size_t bytes) {
    if (!lender_) own_.reserve(bytes);
  }
  // Adds `count` uninitialised letters and returns the first.
  std::uint8_t* extend(std::size_t count) {
    if (lender_ && used_ + count > room_) leave();
    if (!lender_) return own_.extend(count);
    used_ += count;
    return lent_ + (used_ - count);
  }
  // Drops all but the first `size` letters.
  void shrink(std::size_t size) {
    if (lender_)
      used_ = size;
    else
      own_.resize(size);
  }
  void append(const std::uint8_t* letters, std::size_t count) {
    if (count) std::memcpy(extend(count), letters, count);
  }

 private:
  void leave();  // for memory of their own

  Buffer<std::uint8_t> own_;
  std::shared_ptr<void> lender_;
  std::uint8_t* lent_ = nullptr;
  std::size_t room_ = 0, used_ = 0;
};

// `bases` and `text` are there only once the batch is taken.
struct BatchColumns {
  LetterBuffer bases;
  Buffer<std::uint8_t> text, flags;
  Buffer<std::int64_t> q_start, t_start, q_name, t_name, qual;
  Buffer<std::int32_t> q_len, t_len, q_name_len, t_name_len;
};

// Classes of letters: bits of Flag, and kIllegal.
std::uint8_t classes_of(std::string_view letters);

// Letters, names and other text of records, one record after another: its name, then letters, then its quality.
class RecordParts {
 public:
  // What is kept of records; names and lengths always are.
  struct Keep {
    bool letters = true, quality = true, comments = false;
  };
  explicit RecordParts(Keep keep) : keep_(keep) {}

  // A name, which begins a header of so many bytes; what follows a blank in it is the comment.
  void name(std::string_view name, std::size_t header = 0);
  // False, and nothing is added, when a byte cannot stand in a sequence; `bad` receives it.
  bool letters(std::string_view letters, std::uint8_t& bad);
  // Adds letters that are known to be some, whose classes somebody sets later; with no letters given, just room for them.
  void copy_letters(const char* letters, std::int64_t count);
  void quality(std::string_view quality);
  // Adds what follows, where no other text was added in between.
  void more_quality(std::string_view quality);
  // Adds other text to the record's; where it starts.
  std::int64_t extra(std::string_view text);

  // The name of the record that is being added; empty between records.
  std::string_view current_name() const {
    if (!open_) return {};
    return {reinterpret_cast<const char*>(text_.data()) + name_, name_len_};
  }
  std::int64_t letters_so_far() const { return len_; }
  bool is_open() const { return open_; }  // inside a record

 protected:
  // Ends the record's letters at a multiple of 16.
  void end_letters();
  // Goes back to where the open record began.
  void drop_open();

  LetterBuffer bases_;
  Buffer<std::uint8_t> text_;
  Keep keep_;
  bool open_ = false;
  std::int64_t name_ = 0, start_ = 0, len_ = 0, quality_ = -1;
  std::size_t name_len_ = 0, header_len_ = 0;
  std::uint8_t classes_ = 0;

 private:
  void begin_record();
};

// Where a record's parts are: from 0 on in the lines that it was read from, else ~place in what was copied.
struct RecordPlace {
  static constexpr std::int64_t kNone = INT64_MIN;  // a quality that is absent
  std::int64_t name, letters, quality;
  std::int32_t name_len, len, header_len;  // the header begins with the name
  std::uint8_t flags;
};

// Records of one file.
struct RecordColumns {
  const std::uint8_t* lines = nullptr;  // somebody else's
  Buffer<std::uint8_t> letters, text;   // copies
  Buffer<RecordPlace> places;

  std::size_t size() const { return places.size(); }
  const std::uint8_t* letters_at(std::int64_t place) const { return place < 0 ? letters.data() + ~place : lines + place; }
  const std::uint8_t* text_at(std::int64_t place) const { return place < 0 ? text.data() + ~place : lines + place; }
};

// Records, copied part by part, or referred to where they lie whole in lines.
class RecordBuilder : public RecordParts {
 public:
  using RecordParts::RecordParts;
  // Whether records may refer to the lines from which they come, which then stay where they are.
  void refer(bool may) { refers_ = may; }
  bool refers() const { return refers_; }
  // Adds a whole record of some lines that begin at `lines`; false, and nothing is added, where a byte cannot stand in a
  // sequence.
  bool add(const char* lines, std::string_view name, std::size_t header, std::string_view letters, const char* quality);
  void end_record();
  // Forgets the record that has begun and did not end.
  void drop_record() { drop_open(); }
  std::int64_t letters_kept() const { return letters_; }
  std::size_t records() const { return c_.size(); }
  // Hands over the records so far, but for one that has not ended. What was in `columns` goes, and its memory is used again.
  void take(RecordColumns& columns);

 private:
  RecordColumns c_;
  bool refers_ = true;
  std::int64_t letters_ = 0;
};

// Takes pairs: the parts of the query, then its end, then the same of the target; or records of two files.
class BatchBuilder : public RecordParts {
 public:
  // With keep_letters false only names and lengths are kept.
  explicit BatchBuilder(bool keep_letters) : RecordParts({keep_letters, keep_letters}) {}

  // Lends memory to the batch that begins; throws std::logic_error where it has begun.
  void lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender);
  // Makes room for so many pairs of so many letters together.
  void reserve(std::int64_t pairs, std::int64_t letters);
  // Counts letters that are no pair's into the batch's weight.
  void weigh(std::int64_t letters) { weight_ += letters; }
  void end_query();
  void end_target();
  // Adds records from q and t on, `most` of each, as pairs, until the batch weighs `weight`; how many were added.
  std::size_t add_pairs(const RecordColumns& queries, std::size_t q, const RecordColumns& targets, std::size_t t,
                        std::size_t most, std::int64_t weight);
  // The same for targets of queries that have neither letters nor a name.
  std::size_t add_targets(const RecordColumns& targets, std::size_t t, std::size_t most, std::int64_t weight);

  // What is to be filled in of a pair that is there, and text from some place on.
  struct Filled {
    std::uint8_t *query, *target, *flags;
    std::size_t query_len, target_len;
  };
  Filled pair(std::size_t row);
  std::uint8_t* text(std::int64_t at) { return text_.data() + at; }

  std::int64_t pairs() const { return static_cast<std::int64_t>(c_.t_len.size()); }
  // What the batch holds so far, in bases; a pair counts 16 of its own, so that empty ones end a batch too.
  std::int64_t weight() const { return weight_ + kPairWeight * pairs(); }
  // Hands over the complete pairs; a query without its target (there is one only after a fault) goes.
  BatchColumns take();

 private:
  static constexpr std::int64_t kPairWeight = 16;
  void end_sequence(Buffer<std::int64_t>& start, Buffer<std::int32_t>& len);
  // Letters and text of some records, and where they came to lie; null where nobody asks.
  struct Columns {
    Buffer<std::int64_t>&start, &name;
    Buffer<std::int32_t>&len, &name_len;
    Buffer<std::int64_t>* quality;
  };
  void copy_records(const RecordColumns& from, std::size_t first, std::size_t count, const Columns& to);

  BatchColumns c_;
  std::int64_t weight_ = 0;
  std::uint8_t pair_classes_ = 0;
};

}  // namespace wfacli
