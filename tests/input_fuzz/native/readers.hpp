// Shared by targets with records or batches of pairs.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.hpp"
#include "base/symbols.hpp"
#include "io/streams.hpp"

namespace fuzz {

inline void add_fault(Answer& answer, const wfacli::InputFault& fault) {
  answer.add("fault").add(fault.what()).add(fault.record).number(fault.line).number(fault.fatal).number(fault.stream);
}

// A file in memory.
class File {
 public:
  explicit File(std::string_view content) : descriptor_(::memfd_create("fuzz", 0)) {
    HOLDS(descriptor_ >= 0);
    HOLDS(::write(descriptor_, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }
  std::string content() const {
    std::string content(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), 0);
    HOLDS(::pread(descriptor_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    return content;
  }

 private:
  int descriptor_;
};

inline std::uint8_t classes_one_by_one(std::string_view symbols) {
  std::uint8_t classes = 0;
  for (const char c : symbols) classes |= wfacli::kSymbols.symbol_class[static_cast<std::uint8_t>(c)];
  return classes;
}

inline bool all_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Merges batches into one answer, and checks the positions in them.
class Batches {
 public:
  explicit Batches(bool symbols) : symbols_(symbols) {}

  // Adds a batch; `row_more` adds the further columns of a row.
  template <class RowMore>
  void add(const wfacli::BatchColumns& b, const RowMore& row_more) {
    const std::size_t n = b.t_len.size();
    HOLDS(b.q_len.size() == n && b.q_start.size() == n && b.t_start.size() == n && b.flags.size() == n);
    HOLDS(b.q_name.size() == n && b.t_name.size() == n && b.q_name_len.size() == n && b.t_name_len.size() == n);
    HOLDS(b.qual.size() == n);
    HOLDS(b.bases.size() >= wfacli::kOverread);
    for (std::size_t i = 0; i < n; ++i) {
      answer.add(text(b, b.q_name[i], b.q_name_len[i])).add(text(b, b.t_name[i], b.t_name_len[i]));
      const std::string_view query = sequence(b, b.q_start[i], b.q_len[i]), target = sequence(b, b.t_start[i], b.t_len[i]);
      answer.add(query).add(target).number(b.q_len[i]).number(b.t_len[i]).number(b.flags[i]);
      HOLDS(b.flags[i] == (classes_one_by_one(query) | classes_one_by_one(target)));
      HOLDS(!(b.flags[i] & wfacli::kIllegal));
      row_more(i);
    }
  }
  static std::string_view text(const wfacli::BatchColumns& b, std::int64_t at, std::int32_t length) {
    HOLDS(at >= 0 && length >= 0 && static_cast<std::size_t>(at) + static_cast<std::size_t>(length) <= b.text.size());
    return view(b.text.data() + at, static_cast<std::size_t>(length));
  }

  Answer answer;

 private:
  std::string_view sequence(const wfacli::BatchColumns& b, std::int64_t start, std::int32_t length) const {
    HOLDS(length >= 0);
    if (!symbols_) return {};
    HOLDS(start >= 0 && start % static_cast<std::int64_t>(wfacli::kAlign) == 0);
    HOLDS(static_cast<std::size_t>(start) + static_cast<std::size_t>(length) + wfacli::kOverread <= b.bases.size());
    return view(b.bases.data() + start, static_cast<std::size_t>(length));
  }

  bool symbols_;
};

// Fills batches until the end or an error, and calls `take` after each. `feeds` provide the streams that are not attached.
// If `lent` is not 0, each batch gets a buffer of that many bytes for its bases.
template <class Take>
void read_all(wfacli::StreamReader& reader, std::vector<Feed>& feeds, std::int64_t weight, std::size_t lent, const Take& take) {
  for (;;) {
    if (lent) {
      const std::shared_ptr<std::uint8_t[]> memory(new std::uint8_t[lent]);
      if (reader.pending_pairs() == 0) reader.use_external(memory.get(), lent, memory);
    }
    wfacli::Next next;
    while (next = reader.fill(weight), next >= wfacli::Next::NeedQuery && next <= wfacli::Next::NeedMates) {
      const int stream = static_cast<int>(next) - static_cast<int>(wfacli::Next::NeedQuery);
      HOLDS(static_cast<std::size_t>(stream) < feeds.size());
      feeds[static_cast<std::size_t>(stream)].give([&](std::size_t bytes) { return reader.prepare(stream, bytes); },
                                                   [&](std::size_t bytes) { reader.commit(stream, bytes); });
    }
    take();
    if (next != wfacli::Next::Full) break;
  }
  HOLDS(reader.pending_pairs() == 0);
}

}  // namespace fuzz
