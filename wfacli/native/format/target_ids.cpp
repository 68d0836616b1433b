#include "format/target_ids.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hashing.hpp"
#include "base/phases.hpp"
#include "mapped/bam_bytes.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kMaxText = INT32_MAX;
constexpr std::size_t kMinRange = 1 << 16;  // bytes of text for one thread at a time
constexpr std::size_t kMaxCopy = 1 << 22;   // bytes that a thread copies at a time
constexpr int kRangesPerThread = 4;
constexpr std::size_t kAhead = 8;  // sequences between a prefetch of the table and its use

void add_u32(Buffer<char>& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

TargetIds::TargetIds(const std::vector<std::string_view>& text, int threads) {
  static_assert(std::endian::native == std::endian::little, "BAM's numbers are written as they are");
  for (const std::string_view piece : text) text_size_ += piece.size();
  if (text_size_ > kMaxText) throw std::overflow_error("BAM cannot hold a header of more than 2 GiB");
  header_.reserve(2 * (kTextAt + text_size_));  // names and lengths take less than their lines
  header_.append(BamBytes::kMagic.data(), BamBytes::kMagic.size());
  add_u32(header_, text_size_);
  char* to = header_.extend(text_size_);
  struct Copy {
    char* to;
    std::string_view from;
  };
  std::vector<Copy> copies;
  for (const std::string_view piece : text)
    for (std::size_t at = 0; at < piece.size(); at += kMaxCopy) {
      copies.push_back({to, piece.substr(at, kMaxCopy)});
      to += copies.back().from.size();
    }
  const int count = static_cast<int>(copies.size());
  if (count == 0) return;
  in_phases(std::min(threads, count), {{count, [&](int i) {
                                          const Copy& copy = copies[static_cast<std::size_t>(i)];
                                          std::memcpy(copy.to, copy.from.data(), copy.from.size());
                                        }}});
}

void TargetIds::number(int threads) {
  if (!slots_.empty()) throw std::logic_error("the targets are numbered already");
  std::vector<Range> ranges = ranges_of_text(threads);
  const int count = static_cast<int>(ranges.size());
  const auto each = [&](auto work) {
    return Phase{count, [&ranges, work](int i) { work(ranges[static_cast<std::size_t>(i)]); }};
  };
  in_phases(std::min(threads, count), {each([this](Range& range) { read(range); }),
                                       {1, [&](int) { place(ranges); }},
                                       each([this](Range& range) { write(range); }),
                                       each([this](Range& range) { hash(range); })});
}

// Cuts the text at ends of lines.
std::vector<TargetIds::Range> TargetIds::ranges_of_text(int threads) const {
  const std::string_view all = begin();
  const std::size_t size = std::max(kMinRange, text_size_ / static_cast<std::size_t>(kRangesPerThread * threads));
  std::vector<Range> ranges;
  for (std::size_t at = kTextAt; at < all.size();) {
    const std::size_t line = all.find('\n', std::min(at + size, all.size()) - 1);
    const std::size_t end = line == all.npos ? all.size() : line + 1;
    ranges.emplace_back();
    ranges.back().begin = at, ranges.back().end = end;
    at = end;
  }
  if (ranges.empty()) ranges.emplace_back();
  return ranges;
}

// Parses the @SQ lines of a range.
void TargetIds::read(Range& range) const {
  const std::string_view text(header_.data(), range.end);
  for (std::size_t at = range.begin; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("@SQ\t")) {
      range.targets.push_back(target_of(line));
      range.targets.back().name += at;
      range.binary_size += 9 + range.targets.back().name_len;
      range.longest = std::max(range.longest, range.targets.back().length);
    }
    at = end + 1;
  }
}

// Returns the sequence of a line; `name` is an offset in the line.
TargetIds::Target TargetIds::target_of(std::string_view line) {
  Target target{};
  bool named = false, measured = false;
  for (std::size_t at = 4; at < line.size();) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    const std::string_view field = line.substr(at, end - at);
    if (field.starts_with("SN:")) {
      named = field.size() > 3;
      target.name = at + 3;
      target.name_len = static_cast<std::uint32_t>(field.size() - 3);
    } else if (field.starts_with("LN:")) {
      const auto [last, error] = std::from_chars(field.data() + 3, field.data() + field.size(), target.length);
      measured = error == std::errc() && last == field.data() + field.size();
    }
    at = end + 1;
  }
  if (!named || !measured) throw std::invalid_argument("a header line has no name and length: " + std::string(line));
  return target;
}

// Makes room for all sequences.
void TargetIds::place(std::vector<Range>& ranges) {
  std::size_t count = 0, bytes = 0;
  for (const Range& range : ranges) count += range.targets.size(), bytes += range.binary_size;
  add_u32(header_, count);
  std::size_t at = header_.size();
  header_.extend(bytes);
  targets_.resize(count);
  slots_.resize(std::bit_ceil(2 * count + 1));
  count = 0;
  std::size_t slots = 0, left = ranges.size();
  for (Range& range : ranges) {
    range.first = std::exchange(count, count + range.targets.size());
    range.binary_at = std::exchange(at, at + range.binary_size);
    range.slots_begin = slots;
    range.slots_end = slots += (slots_.size() - slots) / left--;
    longest_ = std::max<std::int64_t>(longest_, range.longest);
  }
}

// Writes the sequences of a range as BAM has them, keeps them, and empties a share of the table.
void TargetIds::write(const Range& range) {
  std::fill(slots_.data() + range.slots_begin, slots_.data() + range.slots_end, -1);
  std::size_t number = range.first;
  char* to = header_.data() + range.binary_at;
  const auto add = [&](const void* bytes, std::size_t size) {
    std::memcpy(to, bytes, size);
    to += size;
  };
  for (const Target& target : range.targets) {
    targets_[number++] = target;
    const std::uint32_t size = target.name_len + 1;
    add(&size, sizeof size);
    add(header_.data() + target.name, target.name_len);
    *to++ = '\0';
    add(&target.length, sizeof target.length);
  }
}

std::uint64_t TargetIds::hash_of(std::string_view name) const {
  return hash_bytes(reinterpret_cast<const std::uint8_t*>(name.data()), static_cast<std::int64_t>(name.size()), 1);
}

// Puts the sequences of a range into the table, beside other threads: no slot becomes empty or gets another name, so those
// of one name meet at one slot, which keeps the first number.
void TargetIds::hash(const Range& range) {
  const std::size_t mask = slots_.size() - 1, count = range.targets.size();
  const auto start = [&](const Target& target) { return hash_of(name(target)) & mask; };
  std::size_t starts[kAhead];
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) starts[i] = start(range.targets[i]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = starts[i % kAhead];
    if (i + kAhead < count) {
      starts[i % kAhead] = start(range.targets[i + kAhead]);
      __builtin_prefetch(slots_.data() + starts[i % kAhead], 1);
    }
    insert(static_cast<std::int32_t>(range.first + i), first);
  }
}

void TargetIds::insert(std::int32_t number, std::size_t at) {
  Target& target = targets_[static_cast<std::size_t>(number)];
  for (;; at = (at + 1) & (slots_.size() - 1)) {
    std::atomic_ref<std::int32_t> slot(slots_[at]);
    std::int32_t there = -1;
    if (slot.compare_exchange_strong(there, number)) return;
    if (name(targets_[static_cast<std::size_t>(there)]) != name(target)) continue;
    while (number < there && !slot.compare_exchange_weak(there, number)) continue;
    repeated_ = true;
    return;
  }
}

std::int32_t TargetIds::find(std::string_view wanted, std::int32_t guess) const {
  const auto is = [&](std::int32_t number) { return name(targets_[static_cast<std::size_t>(number)]) == wanted; };
  if (guess >= 0 && guess < count() && !repeated_ && is(guess)) return guess;
  if (slots_.empty()) return -1;
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(wanted) & mask;
  while (slots_[i] >= 0 && !is(slots_[i])) i = (i + 1) & mask;
  return slots_[i];
}

std::int32_t TargetFinder::id(const BatchView& batch, std::int64_t row) {
  if (row < 0) return -1;
  const std::string_view name = batch.target_name(row);
  if (id_ < 0 || name != name_) {
    id_ = targets_ ? targets_->find(name, id_ + 1) : -1;  // of pairs, the next row has the next target
    name_ = name;
    if (id_ < 0) throw std::invalid_argument("the header has no target " + std::string(name));
  }
  return id_;
}

}  // namespace wfacli
