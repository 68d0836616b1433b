// Incremental line splitter for a stream that arrives in blocks.
#pragma once

#include <atomic>
#include <cstring>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

enum class ParseResult { Item, NeedInput, End };

// Maximum length in bytes of a line that is not a sequence (header, mapping, comment), for the whole process. Such
// lines are buffered until they are complete.
inline std::atomic<std::size_t> max_line_bytes{std::size_t{16} << 20};

class Lines {
 public:
  static constexpr int kNeedInput = -1, kEnd = -2;

  // Returns space for `bytes` more; the caller fills part of it and calls commit(). Invalidates earlier lines.
  std::uint8_t* prepare(std::size_t bytes) {
    if (pos_ > 0) {
      std::memmove(data_.data(), data_.data() + pos_, end_ - pos_);
      discarded_ += static_cast<std::int64_t>(pos_);
      end_ -= pos_;
      searched_ -= pos_;
      pos_ = 0;
    }
    data_.resize(end_ + bytes);
    return data_.data() + end_;
  }
  void commit(std::size_t bytes) { end_ += bytes; }
  void close() { closed_ = true; }
  bool closed() const { return closed_; }
  bool inside() const { return inside_; }  // part of a line was taken, but not its end
  std::int64_t number() const { return number_; }  // 1-based number of the last line taken
  // Returns the offset of the next line in the stream.
  std::int64_t offset() const { return discarded_ + static_cast<std::int64_t>(pos_); }

  // True if the last line taken ended the stream without a line feed.
  bool ended_inside() const { return closed_ && pos_ == end_ && pos_ > 0 && data_[pos_ - 1] != '\n'; }

  // Returns the first byte of the next line ('\n' if it is empty), kNeedInput or kEnd.
  int peek() const { return pos_ < end_ ? data_[pos_] : closed_ ? kEnd : kNeedInput; }

  // Returns the buffered bytes that were not taken yet, from the start of a line on; skip() consumes complete lines of
  // them.
  std::string_view unread() const { return {reinterpret_cast<const char*>(data_.data() + pos_), end_ - pos_}; }
  // Returns all buffered bytes, including lines taken since the last prepare(); position() is the offset of the next
  // line.
  std::string_view buffered() const { return {reinterpret_cast<const char*>(data_.data()), end_}; }
  std::size_t position() const { return pos_; }
  // Discards all lines and the end of the stream; line numbers restart at 1.
  void clear() {
    pos_ = searched_ = end_ = 0;
    number_ = discarded_ = 0;
    closed_ = inside_ = false;
  }
  void skip(std::size_t bytes, std::int64_t lines) {
    pos_ = searched_ = pos_ + bytes;
    number_ += lines;
  }
  // Counts complete lines of the stream that are not buffered here, between those taken and the next one.
  void pass(std::size_t bytes, std::int64_t lines) {
    discarded_ += static_cast<std::int64_t>(bytes);
    number_ += lines;
  }

  // Returns the buffered part of the next line, without its line feed. Scans no byte twice.
  std::string_view partial_line() {
    const std::size_t stop = find_end() ? searched_ : end_;
    return {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_};
  }

  // Takes the next part of a line that may be long, so that it is not in memory twice; `whole` is true for the last
  // part. The line as a whole is as take() returns it, except that blanks at the end of a part become one at the start
  // of the next part.
  ParseResult take_part(std::string_view& part, bool& whole) {
    whole = true;
    const ParseResult got = take(part);
    if (got != ParseResult::NeedInput || end_ - pos_ < kPart) return got;
    whole = false;
    std::size_t stop = end_;
    while (stop > pos_ && is_blank(data_[stop - 1])) --stop;
    part = {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_};
    begin_line();
    inside_ = true;
    pos_ = stop < end_ ? end_ - 1 : end_;
    return ParseResult::Item;
  }

  // Takes a line, without its line feed and trailing whitespace.
  ParseResult take(std::string_view& line) {
    const ParseResult got = take_row(line);
    if (got == ParseResult::Item)
      while (!line.empty() && is_blank(static_cast<std::uint8_t>(line.back()))) line.remove_suffix(1);
    return got;
  }

  // Takes a line of a table, without its line end but with trailing whitespace, which may be an empty last column.
  ParseResult take_row(std::string_view& line) {
    const bool newline = find_end();
    if (!newline && !closed_) return ParseResult::NeedInput;
    if (!newline && pos_ == end_ && !inside_) return ParseResult::End;
    const std::size_t stop = searched_;
    const bool carriage_return = stop > pos_ && data_[stop - 1] == '\r';
    line = {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_ - carriage_return};
    pos_ = searched_ = newline ? stop + 1 : stop;
    begin_line();
    inside_ = false;
    return ParseResult::Item;
  }

 private:
  static constexpr std::size_t kPart = 1 << 16;

  static bool is_blank(std::uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }
  void begin_line() { number_ += !inside_; }
  // True if the next line is complete. Sets searched_ to its line feed, or to the end of the buffered bytes.
  bool find_end() {
    const void* newline =
        searched_ < end_ ? std::memchr(data_.data() + searched_, '\n', end_ - searched_) : nullptr;
    searched_ = newline ? static_cast<const std::uint8_t*>(newline) - data_.data() : end_;
    return newline;
  }

  Buffer<std::uint8_t> data_;
  std::size_t pos_ = 0, searched_ = 0, end_ = 0;  // no line feed in [pos_, searched_)
  std::int64_t number_ = 0;
  std::int64_t discarded_ = 0;  // bytes of the stream before data_
  bool closed_ = false;
  bool inside_ = false;  // part of the next line was taken
};

}  // namespace wfacli
