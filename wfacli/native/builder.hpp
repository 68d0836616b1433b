// Columns of a PairBatch while it is read.
#pragma once

#include <memory>
#include <string_view>

#include "types.hpp"

namespace wfacli {

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

struct BatchColumns {
  LetterBuffer bases;
  Buffer<std::uint8_t> text, flags;
  Buffer<std::int64_t> q_start, t_start, q_name, t_name, qual;
  Buffer<std::int32_t> q_len, t_len, q_name_len, t_name_len;
};

// Takes records' parts in the order name, letters, quality, then the end of the query or the target.
class BatchBuilder {
 public:
  // With keep_letters false only names and lengths are kept.
  explicit BatchBuilder(bool keep_letters) : keep_letters_(keep_letters) {}

  // Lends memory to the batch that begins; throws std::logic_error where it has begun.
  void lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender);
  // Makes room for so many pairs of so many letters together.
  void reserve(std::int64_t pairs, std::int64_t letters);
  void name(std::string_view name);
  // False, and nothing is added, when a byte cannot stand in a sequence; `bad` receives it.
  bool letters(std::string_view letters, std::uint8_t& bad);
  void quality(std::string_view quality);
  // Adds other text to the record's; where it starts in the batch's.
  std::int64_t extra(std::string_view text);
  // Counts letters that are no pair's into the batch's weight.
  void weigh(std::int64_t letters) { weight_ += letters; }
  void end_query();
  void end_target();

  // The name of the record that is being added; empty between records.
  std::string_view current_name() const {
    if (!open_) return {};
    return {reinterpret_cast<const char*>(c_.text.data()) + name_, name_len_};
  }
  std::int64_t letters_so_far() const { return len_; }
  std::int64_t pairs() const { return static_cast<std::int64_t>(c_.t_len.size()); }
  // What the batch holds so far, in bases; a pair counts 16 of its own, so that empty ones end a batch too.
  std::int64_t weight() const { return weight_ + 16 * pairs(); }
  // Hands over the complete pairs; a query without its target (there is one only after a fault) goes.
  BatchColumns take();

 private:
  void begin_record();
  void end_sequence(Buffer<std::int64_t>& start, Buffer<std::int32_t>& len);

  BatchColumns c_;
  bool keep_letters_;
  bool open_ = false;  // inside a record
  std::int64_t name_ = 0, start_ = 0, len_ = 0, quality_ = -1, weight_ = 0;
  std::size_t name_len_ = 0;
  std::uint8_t classes_ = 0, pair_classes_ = 0;
};

}  // namespace wfacli
