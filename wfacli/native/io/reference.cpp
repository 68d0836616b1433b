#include "io/reference.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hashing.hpp"
#include "io/records.hpp"

namespace wfacli {
namespace {

constexpr std::int64_t kBlock = 1 << 14;  // bytes per read; holds most windows

// True if all bytes may be bases: no whitespace, control characters or '>'.
bool all_bases_valid(const std::uint8_t* text, std::int64_t count) {
  std::uint8_t wrong = 0;  // a byte, so that the loop has vectors of bytes
  for (std::int64_t i = 0; i < count; ++i)
    wrong |= static_cast<std::uint8_t>(static_cast<std::uint8_t>(text[i] <= ' ') | static_cast<std::uint8_t>(text[i] == '>'));
  return !wrong;
}

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(
      hash_bytes(reinterpret_cast<const std::uint8_t*>(name.data()), static_cast<std::int64_t>(name.size()), 1));
}

}  // namespace

void Reference::push(Record record) {
  if (3 * slots_.size() < 4 * (records_.size() + 1)) grow();
  const std::uint32_t hash = hash_of(record.name);
  Slot& slot = slots_[slot_of(record.name, hash)];
  if (record.name.empty() || slot.number >= 0) throw std::invalid_argument(record.name);
  slot = {hash, size()};
  records_.push_back(std::move(record));
}

std::size_t Reference::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].number >= 0 && (slots_[i].hash != hash || at(slots_[i].number).name != name)) i = (i + 1) & mask;
  return i;
}

void Reference::grow() {
  const std::vector<Slot> before = std::exchange(slots_, {});
  slots_.assign(std::max<std::size_t>(2 * before.size(), 16), {0, -1});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.number < 0) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].number >= 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

void Reference::add(const BatchView& batch) {
  for (std::int64_t i = 0; i < batch.n; ++i) {
    std::string name(reinterpret_cast<const char*>(batch.text) + batch.t_name[i],
                     static_cast<std::size_t>(batch.t_name_len[i]));
    push({std::move(name), static_cast<std::int64_t>(bases_.size()), batch.t_len[i], 0, 0});
    bases_.append(batch.bases + batch.t_start[i], static_cast<std::size_t>(batch.t_len[i]));
  }
}

void Reference::use_file(int descriptor) { file_ = std::make_unique<FileBlocks>(descriptor); }

void Reference::add_indexed(std::string name, std::int64_t length, std::int64_t offset, std::int64_t line_bases,
                            std::int64_t line_bytes) {
  // `end` is an upper bound of the last base's end. If it does not overflow, neither does offset_of().
  std::int64_t end = 0;
  if (length < 0 || offset < 0 || line_bases < 1 || line_bytes < line_bases ||
      __builtin_add_overflow(length / line_bases, 1, &end) || __builtin_mul_overflow(end, line_bytes, &end) ||
      __builtin_add_overflow(end, offset, &end))
    throw std::invalid_argument("no place of a sequence");
  push({std::move(name), offset, length, line_bases, line_bytes});
}

void Reference::set_loader(std::vector<std::int64_t> starts, Loader loader) {
  loaded_.assign(starts.size(), false);
  starts_ = std::move(starts);
  loader_ = std::move(loader);
  file_->keep_none();
}

void Reference::load(const std::vector<Window>& windows) const {
  const std::lock_guard guard(load_mutex_);
  std::vector<std::int64_t> wanted;
  for (const Window& window : windows) {
    if (window.begin >= window.end) continue;
    const Record& record = at(window.i);
    const auto behind = [&](std::int64_t base) {
      return std::upper_bound(starts_.begin(), starts_.end(), record.start + offset_of(record, base)) -
             starts_.begin();
    };
    for (std::ptrdiff_t block = behind(window.begin) - 1, end = behind(window.end - 1); block < end; ++block) {
      const auto number = static_cast<std::size_t>(block);
      if (!loaded_[number]) wanted.push_back(block);
      loaded_[number] = true;
    }
  }
  if (!wanted.empty()) loader_(wanted);
}

std::int32_t Reference::find(std::string_view name) const {
  return slots_.empty() ? -1 : slots_[slot_of(name, hash_of(name))].number;
}

void Reference::copy(std::int32_t i, std::int64_t begin, std::int64_t end, std::uint8_t* to) const {
  if (begin >= end) return;
  const Record& record = at(i);
  const auto count = static_cast<std::size_t>(end - begin);
  if (!file_) {
    std::memcpy(to, bases_.data() + record.start + begin, count);
  } else if (!copy_lines(record, begin, end, to)) {
    std::memset(to, 'N', count);
    matches_index_.store(false, std::memory_order_relaxed);
  }
}

// Returns the offset of a base in the file, in bytes from the first base of its sequence.
std::int64_t Reference::offset_of(const Record& record, std::int64_t base) {
  return base / record.line_bases * record.line_bytes + base % record.line_bases;
}

// Copies bases from the file. Returns false if bases or line ends are not where the index says.
bool Reference::copy_lines(const Record& record, std::int64_t begin, std::int64_t end, std::uint8_t* to) const {
  const std::int64_t bases = record.line_bases, bytes = record.line_bytes;
  std::uint8_t block[kBlock];
  const std::int64_t last = offset_of(record, end - 1) + 1;
  for (std::int64_t at = offset_of(record, begin); at < last;) {
    const auto size = static_cast<std::size_t>(std::min(kBlock, last - at));
    try {
      if (file_->read(record.start + at, block, size) != size) return false;
    } catch (const InputFault&) {
      return false;
    }
    for (const std::uint8_t *from = block, *behind = block + size; from < behind;) {
      const std::int64_t column = at % bytes;
      std::int64_t count = 1;
      if (column >= bases) {
        if (*from != (column + 1 == bytes ? '\n' : '\r')) return false;
      } else {
        count = std::min<std::int64_t>(bases - column, behind - from);
        if (!all_bases_valid(from, count)) return false;
        std::memcpy(to, from, static_cast<std::size_t>(count));
        to += count;
      }
      from += count, at += count;
    }
  }
  return true;
}

void Reference::prefetch(std::int32_t i, std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t kLine = 64, kMaxPrefetched = 1024;  // beyond that the hardware prefetcher takes over
  if (file_) return;
  const std::uint8_t* first = bases_.data() + at(i).start + begin;
  for (std::int64_t offset = 0; offset < std::min(end - begin, kMaxPrefetched); offset += kLine)
    __builtin_prefetch(first + offset);
}

}  // namespace wfacli
