// Lines of a stream that arrives in blocks.
#pragma once

#include <atomic>
#include <cstring>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

enum class Got { Item, NeedInput, End };

// Bytes that a header of a sequence, a mapping or another line may have that is no sequence, for the whole process.
// Such a line is held in memory until its end has come.
inline std::atomic<std::size_t> longest_line{std::size_t{16} << 20};

class Lines {
 public:
  static constexpr int kNeedInput = -1, kEnd = -2;

  // Room for `bytes` more; the caller fills some of it and says how much. Earlier lines become invalid.
  std::uint8_t* prepare(std::size_t bytes) {
    if (pos_ > 0) {
      std::memmove(data_.data(), data_.data() + pos_, end_ - pos_);
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
  bool inside() const { return inside_; }  // whether a part of a line was taken, and not its end
  std::int64_t number() const { return number_; }  // of the last line taken, from 1

  // Whether the line taken last was the stream's end and had no line feed.
  bool ended_inside() const { return closed_ && pos_ == end_ && pos_ > 0 && data_[pos_ - 1] != '\n'; }

  // The first byte of the next line ('\n' when it is empty), kNeedInput or kEnd.
  int peek() const { return pos_ < end_ ? data_[pos_] : closed_ ? kEnd : kNeedInput; }

  // What has come and was not taken yet, from the start of a line on; skip() takes whole lines of it.
  std::string_view unread() const { return {reinterpret_cast<const char*>(data_.data() + pos_), end_ - pos_}; }
  // Everything that prepare() and commit() brought since prepare() was called last, and where in it the next line begins.
  std::string_view held() const { return {reinterpret_cast<const char*>(data_.data()), end_}; }
  std::size_t position() const { return pos_; }
  // Forgets all lines, and the stream's end; the next one counts as the first.
  void clear() {
    pos_ = searched_ = end_ = 0;
    number_ = 0;
    closed_ = inside_ = false;
  }
  void skip(std::size_t bytes, std::int64_t lines) {
    pos_ = searched_ = pos_ + bytes;
    number_ += lines;
  }

  // What has come of the next line, without its end; no byte is looked at twice for it.
  std::string_view so_far() {
    const std::size_t stop = find_end() ? searched_ : end_;
    return {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_};
  }

  // Takes a line that may be long, in parts, so that it is not held in memory twice; `whole` says whether this one is the
  // last. A part begins with a blank where the one before ended with some. Lines are as take() gives them.
  Got take_part(std::string_view& part, bool& whole) {
    whole = true;
    const Got got = take(part);
    if (got != Got::NeedInput || end_ - pos_ < kPart) return got;
    whole = false;
    std::size_t stop = end_;
    while (stop > pos_ && is_blank(data_[stop - 1])) --stop;
    part = {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_};
    begin_line();
    inside_ = true;
    pos_ = stop < end_ ? end_ - 1 : end_;
    return Got::Item;
  }

  // Takes a line without its end and without trailing blanks.
  Got take(std::string_view& line) {
    const Got got = take_row(line);
    if (got == Got::Item)
      while (!line.empty() && is_blank(static_cast<std::uint8_t>(line.back()))) line.remove_suffix(1);
    return got;
  }

  // Takes a line of a table: without its end, but with blanks, where an empty last column may hide.
  Got take_row(std::string_view& line) {
    const bool newline = find_end();
    if (!newline && !closed_) return Got::NeedInput;
    if (!newline && pos_ == end_ && !inside_) return Got::End;
    const std::size_t stop = searched_;
    const bool carriage_return = stop > pos_ && data_[stop - 1] == '\r';
    line = {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_ - carriage_return};
    pos_ = searched_ = newline ? stop + 1 : stop;
    begin_line();
    inside_ = false;
    return Got::Item;
  }

 private:
  static constexpr std::size_t kPart = 1 << 16;

  static bool is_blank(std::uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }
  void begin_line() { number_ += !inside_; }
  // Whether the end of the next line has come; searched_ is where, or behind all that has come.
  bool find_end() {
    const void* newline =
        searched_ < end_ ? std::memchr(data_.data() + searched_, '\n', end_ - searched_) : nullptr;
    searched_ = newline ? static_cast<const std::uint8_t*>(newline) - data_.data() : end_;
    return newline;
  }

  Buffer<std::uint8_t> data_;
  std::size_t pos_ = 0, searched_ = 0, end_ = 0;  // nothing from pos_ to searched_ ends a line
  std::int64_t number_ = 0;
  bool closed_ = false;
  bool inside_ = false;  // whether a part of the next line was taken
};

}  // namespace wfacli
