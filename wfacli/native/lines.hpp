// Lines of a stream that arrives in blocks.
#pragma once

#include <cstring>
#include <string_view>

#include "buffer.hpp"

namespace wfacli {

enum class Got { Item, NeedInput, End };

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
    closed_ = false;
  }
  void skip(std::size_t bytes, std::int64_t lines) {
    pos_ = searched_ = pos_ + bytes;
    number_ += lines;
  }

  // Takes a line without its end and without trailing blanks.
  Got take(std::string_view& line) {
    const Got got = take_row(line);
    if (got == Got::Item)
      while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    return got;
  }

  // Takes a line of a table: without its end, but with blanks, where an empty last column may hide.
  Got take_row(std::string_view& line) {
    const std::uint8_t* from = data_.data() + searched_;
    const void* newline = searched_ < end_ ? std::memchr(from, '\n', end_ - searched_) : nullptr;
    if (!newline && !closed_) {
      searched_ = end_;
      return Got::NeedInput;
    }
    if (!newline && pos_ == end_) return Got::End;
    const std::size_t stop = newline ? static_cast<const std::uint8_t*>(newline) - data_.data() : end_;
    const bool carriage_return = stop > pos_ && data_[stop - 1] == '\r';
    line = {reinterpret_cast<const char*>(data_.data() + pos_), stop - pos_ - carriage_return};
    pos_ = searched_ = newline ? stop + 1 : stop;
    ++number_;
    return Got::Item;
  }

 private:
  Buffer<std::uint8_t> data_;
  std::size_t pos_ = 0, searched_ = 0, end_ = 0;
  std::int64_t number_ = 0;
  bool closed_ = false;
};

}  // namespace wfacli
