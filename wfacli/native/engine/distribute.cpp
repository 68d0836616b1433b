#include "engine/distribute.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/staging.hpp"

namespace wfacli {
namespace {

constexpr int kDigit = 11;  // bits

struct Lengths {
  std::int32_t query, target;
  bool operator==(const Lengths& other) const { return query == other.query && target == other.target; }
};

// Properties of a build's pairs before they are sorted.
struct Found {
  std::int64_t count = 0, begin = 0;
  Lengths first{0, 0}, max_lengths{0, 0};
  bool alike = true;
};

// Radix sort of places by keys 0 .. `max_key`, descending and stable.
template <class Key>
void sort_by(std::int32_t*& places, std::int32_t*& spare, std::int64_t count, std::int32_t max_key, Key&& key) {
  constexpr std::uint32_t kMask = (1u << kDigit) - 1;
  for (int shift = 0; shift < 31 && max_key >> shift > 0; shift += kDigit) {
    std::array<std::int64_t, kMask + 2> begin{};
    const auto digit = [&](std::int32_t place) {
      return kMask - (static_cast<std::uint32_t>(key(place)) >> shift & kMask);
    };
    for (std::int64_t at = 0; at < count; ++at) ++begin[digit(places[at]) + 1];
    for (std::size_t d = 1; d <= kMask; ++d) begin[d] += begin[d - 1];
    for (std::int64_t at = 0; at < count; ++at) spare[begin[digit(places[at])]++] = places[at];
    std::swap(places, spare);
  }
}

class RowDistributor {
 public:
  RowDistributor(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const BuildTable& table)
      : batch_(batch), rows_(rows), count_(count), table_(table), found_(static_cast<std::size_t>(table.builds)) {}

  DistributedRows run() {
    choose();
    place();
    for (std::int32_t b = 0; b < table_.builds; ++b) {
      const Found& found = found_[static_cast<std::size_t>(b)];
      if (!found.count) continue;
      if (!found.alike) sort(b, found);
      out_.builds.push_back({found.count, b, found.max_lengths.query, found.max_lengths.target});
    }
    return std::move(out_);
  }

 private:
  Lengths lengths(std::int32_t place) const {
    const std::int32_t row = rows_[place];
    return {batch_.q_len[row], batch_.t_len[row]};
  }
  std::int64_t step(std::int32_t length) const {
    return table_.step[std::min<std::int64_t>(length, table_.lengths - 1)];
  }
  // Return table_.builds if no build accepts the pair.
  std::int32_t build_of(const Lengths& n) const {
    const std::int32_t longest = std::max(n.query, n.target);
    if (std::min(n.query, n.target) == 0 || longest > table_.max_length) return table_.builds;
    if (longest > table_.max_narrow) return table_.builds - 1;
    return table_.build[step(n.query) * table_.steps + step(n.target)];
  }
  void choose() {
    std::uint8_t* build = build_.extend(static_cast<std::size_t>(count_));
    Lengths last{-1, -1};
    std::int32_t of_last = table_.builds;
    for (std::int64_t at = 0; at < count_; ++at) {
      const Lengths n = lengths(static_cast<std::int32_t>(at));
      if (!(n == last)) of_last = build_of(last = n);
      build[at] = static_cast<std::uint8_t>(of_last);
      if (of_last == table_.builds) {
        out_.others.push(static_cast<std::int32_t>(at));
        continue;
      }
      out_.bytes += static_cast<std::int64_t>(staged_bytes(n.query) + staged_bytes(n.target));
      Found& found = found_[static_cast<std::size_t>(of_last)];
      if (!found.count++) found.first = n;
      found.alike &= n == found.first;
      found.max_lengths = {std::max(found.max_lengths.query, n.query), std::max(found.max_lengths.target, n.target)};
    }
  }
  void place() {
    std::int64_t begin = 0;
    for (Found& found : found_) found.begin = std::exchange(begin, begin + found.count);
    std::vector<std::int64_t> at;
    for (const Found& found : found_) at.push_back(found.begin);
    at.push_back(begin);  // pairs without a build come last and are cut off below
    std::int32_t* order = out_.order.extend(static_cast<std::size_t>(count_));
    for (std::int64_t r = 0; r < count_; ++r) order[at[build_[static_cast<std::size_t>(r)]]++] = static_cast<std::int32_t>(r);
    out_.order.resize(static_cast<std::size_t>(begin));
  }
  void sort(std::int32_t b, const Found& found) {
    const std::int32_t width = table_.width[b];
    std::int32_t* const own = out_.order.data() + found.begin;
    std::int32_t *places = own, *spare = spare_.size() ? spare_.data() : spare_.extend(out_.order.size());
    sort_by(places, spare, found.count, found.max_lengths.query, [&](std::int32_t p) { return lengths(p).query; });
    sort_by(places, spare, found.count, (found.max_lengths.target - 1) / width,
            [&](std::int32_t p) { return (lengths(p).target - 1) / width; });
    if (places != own) std::copy_n(places, found.count, own);
  }

  const BatchView& batch_;
  const std::int32_t* rows_;
  const std::int64_t count_;
  const BuildTable& table_;
  std::vector<Found> found_;
  Buffer<std::uint8_t> build_;   // build of each place
  Buffer<std::int32_t> spare_;
  DistributedRows out_;
};

}  // namespace

DistributedRows distribute_rows(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                                const BuildTable& table) {
  return RowDistributor(batch, rows, count, table).run();
}

}  // namespace wfacli
