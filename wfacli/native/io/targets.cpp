#include "io/targets.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/hashing.hpp"
#include "io/sam_names.hpp"

namespace wfacli {

namespace {

void add_line(Text& lines, const std::uint8_t* name, std::int64_t name_length, std::int64_t length) {
  constexpr std::size_t kFixed = 16;
  Pen pen = lines.room(kFixed + static_cast<std::size_t>(name_length) + Pen::kDigits);
  pen.add("@SQ\tSN:");
  pen.add(name, name_length);
  pen.add("\tLN:");
  pen.number(length);
  pen.add('\n');
  lines.done(pen);
}

}  // namespace

TargetTable::Entry& TargetTable::find(const Entry& target) {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = target.hash & mask;; i = (i + 1) & mask) {
    Entry& e = entries_[i];
    if (e.length < 0 || (e.hash == target.hash && e.more == target.more)) return e;
  }
}

void TargetTable::grow() {
  Buffer<Entry> old = std::move(entries_);
  entries_ = Buffer<Entry>();
  entries_.resize(old.empty() ? 1024 : old.size() * 2);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].length = -1;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (old[i].length >= 0) find(old[i]) = old[i];
}

TargetTable::Entry TargetTable::entry_of(const BatchView& batch, std::int64_t i) {
  const std::uint8_t* name = batch.text + batch.t_name[i];
  const std::int32_t len = batch.t_name_len[i];
  return {hash_bytes(name, len, 1), static_cast<std::uint32_t>(hash_bytes(name, len, 2)), batch.t_len[i]};
}

TargetTable::Added TargetTable::add(const BatchView& batch) {
  // Slots are prefetched kAhead targets ahead, since each is likely a cache miss.
  constexpr std::int64_t kAhead = 16;
  Added added;
  Entry foreseen[kAhead];
  const auto foresee = [&](std::int64_t i) {
    if (i >= batch.n) return;
    foreseen[i % kAhead] = entry_of(batch, i);
    if (!entries_.empty()) __builtin_prefetch(entries_.data() + (foreseen[i % kAhead].hash & (entries_.size() - 1)));
  };
  for (std::int64_t i = 0; i < kAhead; ++i) foresee(i);
  for (std::int64_t i = 0; i < batch.n; ++i) {
    const Entry target = foreseen[i % kAhead];
    foresee(i + kAhead);
    if (batch.t_len[i] == 0) continue;
    if (static_cast<std::size_t>(count_) * 4 >= entries_.size() * 3) grow();
    const std::uint8_t* name = batch.text + batch.t_name[i];
    const std::int32_t len = batch.t_name_len[i];
    Entry& entry = find(target);
    if (entry.length >= 0) {
      if (entry.length == target.length) continue;
      added.clash = i;
      break;
    }
    const bool spill = count_ >= max_entries_;
    if (spill) {
      added.spilled.push(target);
    } else {
      entry = target;
      ++count_;
    }
    add_line(spill ? added.spilled_lines : added.lines, name, len, target.length);
  }
  return added;
}

Text sequence_lines(const Reference& reference, std::int32_t first, std::int32_t last) {
  Text lines;
  for (std::int32_t i = first; i < std::min(last, reference.size()); ++i) {
    const std::string& name = reference.name(i);
    if (reference.length(i) == 0) continue;
    if (!fits_rname(name)) throw std::invalid_argument(name);
    add_line(lines, reinterpret_cast<const std::uint8_t*>(name.data()), static_cast<std::int64_t>(name.size()),
             reference.length(i));
  }
  return lines;
}

}  // namespace wfacli
