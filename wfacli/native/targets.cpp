#include "targets.hpp"

#include "hashing.hpp"

namespace wfacli {
TargetTable::Entry& TargetTable::find(std::uint64_t high, std::uint64_t low) {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = low & mask;; i = (i + 1) & mask) {
    Entry& e = entries_[i];
    if (e.length < 0 || (e.high == high && e.low == low)) return e;
  }
}

void TargetTable::grow() {
  Buffer<Entry> old = std::move(entries_);
  entries_ = Buffer<Entry>();
  entries_.resize(old.empty() ? 1024 : old.size() * 2);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].length = -1;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (old[i].length >= 0) find(old[i].high, old[i].low) = old[i];
}

TargetTable::Added TargetTable::add(const BatchView& batch) {
  Added added;
  for (std::int64_t i = 0; i < batch.n; ++i) {
    if (batch.t_len[i] == 0) continue;
    if (static_cast<std::size_t>(count_) * 4 >= entries_.size() * 3) grow();
    const std::uint8_t* name = batch.text + batch.t_name[i];
    const std::int32_t len = batch.t_name_len[i];
    const Entry target{hashed(name, len, 1), hashed(name, len, 2), batch.t_len[i]};
    Entry& known = find(target.high, target.low);
    if (known.length >= 0) {
      if (known.length == target.length) continue;
      added.clash = i;
      break;
    }
    const bool spill = count_ >= most_;
    if (spill) {
      added.spilled.push(target);
    } else {
      known = target;
      ++count_;
    }
    Text& lines = spill ? added.spilled_lines : added.lines;
    constexpr std::size_t kFixed = 16;
    Pen pen = lines.room(kFixed + static_cast<std::size_t>(len) + Pen::kDigits);
    pen.add("@SQ\tSN:");
    pen.add(name, len);
    pen.add("\tLN:");
    pen.number(target.length);
    pen.add('\n');
    lines.done(pen);
  }
  return added;
}

}  // namespace wfacli
