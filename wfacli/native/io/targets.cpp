#include "io/targets.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "base/hashing.hpp"
#include "base/phases.hpp"
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

TargetTable::Entry& TargetTable::Part::find(const Entry& target) {
  const std::size_t mask = entries.size() - 1;
  for (std::size_t i = target.hash & mask;; i = (i + 1) & mask) {
    Entry& e = entries[i];
    if (e.length < 0 || (e.hash == target.hash && e.more == target.more)) return e;
  }
}

void TargetTable::Part::grow() {
  Buffer<Entry> old = std::move(entries);
  entries = Buffer<Entry>();
  entries.resize(old.empty() ? 64 : old.size() * 2);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].length = -1;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (old[i].length >= 0) find(old[i]) = old[i];
}

void TargetTable::Part::prefetch(const Entry& target) const {
  if (!entries.empty()) __builtin_prefetch(entries.data() + (target.hash & (entries.size() - 1)));
}

TargetTable::Entry TargetTable::entry_of(const BatchView& batch, std::int64_t i) {
  const std::uint8_t* name = batch.text + batch.t_name[i];
  const std::int32_t len = batch.t_name_len[i];
  return {hash_bytes(name, len, 1), static_cast<std::uint32_t>(hash_bytes(name, len, 2)), batch.t_len[i]};
}

bool TargetTable::full() const {
  std::size_t count = 0;
  for (const Part& part : parts_) count += part.count;
  return static_cast<std::int64_t>(count) >= max_entries_;
}

// The rows of a batch in ranges, each for one thread at a time.
struct TargetTable::Work {
  explicit Work(const BatchView& view) : batch(view), ranges(static_cast<int>(view.n / kRange + 1)) {
    const auto n = static_cast<std::size_t>(view.n);
    targets.resize(n);
    order.resize(n);
    places.resize(n);
    fresh.resize(n);
    starts.resize(static_cast<std::size_t>(ranges) * kParts);
  }
  // Calls a function with each row of a range.
  template <class F>
  void each(int range, F&& f) const {
    for (std::int64_t i = range * kRange; i < std::min((range + 1) * kRange, batch.n); ++i) f(i);
  }
  std::int64_t& start(int range, int part) { return starts[static_cast<std::size_t>(range * kParts + part)]; }

  void hash(int range) {
    for (int part = 0; part < kParts; ++part) start(range, part) = 0;
    each(range, [&](std::int64_t i) {
      targets[static_cast<std::size_t>(i)] = entry_of(batch, i);
      ++start(range, part_of(targets[static_cast<std::size_t>(i)]));
    });
  }
  void sum() {
    std::int64_t before = 0;
    for (int part = 0; part < kParts; ++part) {
      firsts[static_cast<std::size_t>(part)] = before;
      for (int range = 0; range < ranges; ++range) before += std::exchange(start(range, part), before);
    }
    firsts[kParts] = before;
  }
  void distribute(int range) {
    each(range, [&](std::int64_t i) {
      const std::int64_t at = start(range, part_of(targets[static_cast<std::size_t>(i)]))++;
      order[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(i);
      places[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(at);
    });
  }
  bool is_fresh(std::int64_t row) const {
    return fresh[static_cast<std::size_t>(places[static_cast<std::size_t>(row)])] && row < clash;
  }
  void clash_at(std::int64_t row) {
    std::int64_t first = clash;
    while (row < first && !clash.compare_exchange_weak(first, row)) {
    }
  }

  static constexpr std::int64_t kRange = 4096;  // rows
  const BatchView& batch;
  const int ranges;
  std::vector<Entry> targets;
  std::vector<std::int32_t> order;       // rows by part, and in their order in each
  std::vector<std::int32_t> places;      // by row: its place in the order
  std::vector<std::int64_t> starts;      // by range and part: where its next row goes in the order
  std::array<std::int64_t, kParts + 1> firsts{};  // where each part begins there
  std::vector<std::uint8_t> fresh;       // by place: whether the target is new
  std::atomic<std::int64_t> clash = INT64_MAX;
};

void TargetTable::add_part(Work& work, int number, bool full) {
  // Slots are prefetched kAhead targets ahead, since each is likely a cache miss.
  constexpr std::int64_t kAhead = 16;
  Part& part = parts_[static_cast<std::size_t>(number)];
  const std::int64_t end = work.firsts[static_cast<std::size_t>(number) + 1];
  const auto row_at = [&](std::int64_t k) { return static_cast<std::size_t>(work.order[static_cast<std::size_t>(k)]); };
  for (std::int64_t k = work.firsts[static_cast<std::size_t>(number)]; k < end; ++k) {
    if (k + kAhead < end) part.prefetch(work.targets[row_at(k + kAhead)]);
    const std::size_t row = row_at(k);
    const Entry& target = work.targets[row];
    std::uint8_t& fresh = work.fresh[static_cast<std::size_t>(k)];
    fresh = 0;
    if (target.length == 0) continue;
    if (part.count * 4 >= part.entries.size() * 3) part.grow();
    Entry& entry = part.find(target);
    if (entry.length >= 0) {
      if (entry.length != target.length) work.clash_at(static_cast<std::int64_t>(row));
      continue;
    }
    fresh = 1;
    if (full) continue;
    entry = target;
    ++part.count;
  }
}

TargetTable::Added TargetTable::add(const BatchView& batch, int threads) {
  Work work(batch);
  const bool full = this->full();
  Added added;
  std::vector<Text> lines(static_cast<std::size_t>(work.ranges));
  std::vector<std::size_t> places(lines.size());
  const auto write = [&](int range) {
    Text& some = lines[static_cast<std::size_t>(range)];
    work.each(range, [&](std::int64_t i) {
      if (work.is_fresh(i)) add_line(some, batch.text + batch.t_name[i], batch.t_name_len[i], batch.t_len[i]);
    });
  };
  const auto place = [&] {
    std::size_t bytes = 0;
    for (std::size_t range = 0; range < lines.size(); ++range) places[range] = std::exchange(bytes, bytes + lines[range].buffer().size());
    added.lines.extend(bytes);
  };
  const auto join = [&](int number) {
    const auto range = static_cast<std::size_t>(number);
    const Buffer<char> some = std::move(lines[range].buffer());
    if (some.size()) std::memcpy(added.lines.data() + places[range], some.data(), some.size());
  };
  in_phases(std::clamp(threads, 1, work.ranges), {{work.ranges, [&](int range) { work.hash(range); }},
                                                  {1, [&](int) { work.sum(); }},
                                                  {work.ranges, [&](int range) { work.distribute(range); }},
                                                  {kParts, [&](int part) { add_part(work, part, full); }},
                                                  {work.ranges, write},
                                                  {1, [&](int) { place(); }},
                                                  {work.ranges, join}});
  if (work.clash < batch.n) added.clash = work.clash;
  if (full)
    for (std::int64_t i = 0; i < batch.n; ++i)
      if (work.is_fresh(i)) added.spilled.push(work.targets[static_cast<std::size_t>(i)]);
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
