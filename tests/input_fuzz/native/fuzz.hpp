// Shared by all targets: options at the start of an input, bytes in pieces, answers as text.
//
// An input has kFront bytes of options, then the parser's bytes. A target parses them as one block and in pieces of random
// sizes; both must give the same answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/lines.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

[[noreturn]] inline void broken(const char* property, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, property);
  std::abort();
}
#define HOLDS(property) ((property) ? void() : fuzz::broken(#property, __FILE__, __LINE__))

// Random numbers out of a seed (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

// The parts of an input. The text is a copy of exactly its size, so that AddressSanitizer reports reads beyond it.
class Input {
 public:
  static constexpr std::size_t kFront = 8;  // options, options, the longest line, five bytes of a seed

  Input(const std::uint8_t* data, std::size_t size) {
    std::memcpy(front_, data, std::min(size, kFront));
    size_ = size - std::min(size, kFront);
    text_ = std::make_unique<char[]>(size_);
    if (size_) std::memcpy(text_.get(), data + kFront, size_);
    // Zero selects the default limit, which no input reaches.
    wfacli::max_line_bytes = front_[2] ? front_[2] : std::size_t{16} << 20;
  }
  bool option(int bit) const { return front_[bit / 8] >> bit % 8 & 1; }
  int options(int bit, int count) const { return (front_[0] | front_[1] << 8) >> bit & ((1 << count) - 1); }
  std::uint64_t seed() const {
    std::uint64_t seed = 0;
    std::memcpy(&seed, front_ + 3, 5);
    return seed;
  }
  std::string_view text() const { return {text_.get(), size_}; }

 private:
  std::uint8_t front_[kFront] = {};
  std::unique_ptr<char[]> text_;
  std::size_t size_;
};

// Splits a text at the first bytes 0xff, which no text file has; the last part may contain more of them.
inline std::vector<std::string_view> parts_of(std::string_view text, std::size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = text.find('\xff');
    parts.push_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Feeds a text to a parser, whole or in pieces.
class Feed {
 public:
  explicit Feed(std::string_view text) : left_(text), random_(0) {}
  Feed(std::string_view text, std::uint64_t seed) : left_(text), random_(seed) {
    constexpr std::size_t kMost[] = {1, 3, 17, 100, 5000};
    most_ = std::max(kMost[random_.below(std::size(kMost))], text.size() / 300);  // each piece moves the unread bytes
  }

  // The next piece; empty at the end.
  std::string_view next() {
    const std::size_t size = left_.empty() ? 0 : std::min(left_.size(), most_ ? 1 + random_.below(most_) : left_.size());
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(size);
    return piece;
  }
  // Passes the next piece by prepare(bytes) and commit(bytes). The space after the piece is filled with other input, so
  // that a parser that reads beyond the piece returns a different answer.
  template <class Prepare, class Commit>
  void give(const Prepare& prepare, const Commit& commit) {
    constexpr std::string_view kBehind = "\n>x\nAC\n@\t+\nr\t0\n\n";
    const std::string_view piece = next();
    std::uint8_t* room = prepare(piece.size() + kBehind.size());
    if (!piece.empty()) std::memcpy(room, piece.data(), piece.size());
    std::memcpy(room + piece.size(), kBehind.data(), kBehind.size());
    commit(piece.size());
  }
  void give(wfacli::Lines& lines) {
    give([&](std::size_t bytes) { return lines.prepare(bytes); },
         [&](std::size_t bytes) { bytes ? lines.commit(bytes) : lines.close(); });
  }

 private:
  std::string_view left_;
  Random random_;
  std::size_t most_ = 0;  // maximum bytes of a piece; 0: all
};

// The answer of a parser as text, field by field.
class Answer {
 public:
  Answer& add(std::string_view field) {
    number(static_cast<std::int64_t>(field.size()));
    text_ += field;
    return *this;
  }
  Answer& number(std::int64_t value) {
    text_ += std::to_string(value) + ' ';
    return *this;
  }
  const std::string& text() const { return text_; }
  bool operator==(const Answer& other) const { return text_ == other.text_; }

 private:
  std::string text_;
};

inline std::string_view view(const std::uint8_t* text, std::size_t count) {
  return {reinterpret_cast<const char*>(text), count};
}

}  // namespace fuzz
