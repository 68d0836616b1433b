#include "engine/one_pair.hpp"

#include <algorithm>
#include <bit>

#include "plan/estimate.hpp"
#include "io/records.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kKinds = 4096;  // maximum size of the cache
constexpr std::size_t kMaxRetainedRuns = std::size_t{1} << 20;  // maximum CIGAR capacity that is kept between pairs

// Copy a sequence to `to`, pad it with zeros to `room` bytes, and return the classes of its bases.
std::uint8_t add(std::string_view text, std::uint8_t* to, std::size_t room) {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  std::memset(to + text.size(), 0, room - text.size());
  // Check the copy: another thread may change the original.
  const std::string_view copied(reinterpret_cast<const char*>(to), text.size());
  const std::uint8_t classes = symbol_classes(copied);
  if ((classes & kIllegal) || copied.size() > INT32_MAX) {
    RecordParts parts({});
    add_checked_sequence(parts, copied, 0);  // throws the detailed InputFault
  }
  return classes;
}

// A value rounded up by at most about an eighth: steps << shift. -1 (unknown) is unchanged.
struct Rounded {
  explicit Rounded(std::int32_t value) {
    if (value > 15) shift = std::bit_width(static_cast<std::uint32_t>(value)) - 4;
    steps = static_cast<std::int32_t>((std::int64_t{value} + (std::int64_t{1} << shift) - 1) >> shift);
  }
  std::int32_t value() const {
    return static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{steps} << shift, INT32_MAX));
  }
  std::uint32_t bits() const { return static_cast<std::uint32_t>(shift << 6 | (steps + 1)); }  // 11 bits

  std::int32_t shift = 0, steps;
};

}  // namespace

OnePair::OnePair(std::string_view query, std::string_view target, bool estimated) {
  const std::size_t first = aligned(query.size()), second = aligned(target.size()) + kOverread;
  bases_.resize(first + second);
  target_start_ = static_cast<std::int64_t>(first);
  flags_ = add(query, bases_.data(), first);
  try {
    flags_ |= add(target, bases_.data() + first, second);
  } catch (InputFault& fault) {
    fault.stream = 1;
    throw;
  }
  query_len_ = static_cast<std::int32_t>(query.size());
  target_len_ = static_cast<std::int32_t>(target.size());
  if (estimated) est_edits_ = estimate_edits(view().pair(0), kDefaultEffort);
}

OnePair::Kind OnePair::kind(std::int32_t min_target_ratio) const {
  return {Rounded(longest()).value(), Rounded(est_edits_).value(), flags_, target_much_longer(min_target_ratio)};
}

BatchView OnePair::view() const {
  BatchView v{};
  v.n = 1;
  v.bases = bases_.data();
  v.q_start = &query_start_;
  v.t_start = &target_start_;
  v.q_len = &query_len_;
  v.t_len = &target_len_;
  v.flags = &flags_;
  v.est_edits = &est_edits_;
  return v;
}

Status ThreadAligner::align(const OnePair& pair, const AlignOptions& options) {
  static const CancelFlag never;
  const std::int32_t row = 0;
  if (rows_.cigar.runs().capacity() > kMaxRetainedRuns) rows_ = AlignedRows();
  rows_.clear();
  aligner_.align(pair.view(), &row, 1, options, never, rows_);
  return static_cast<Status>(rows_.status[0]);
}

ThreadAligner& thread_aligner() {
  thread_local ThreadAligner own;
  return own;
}

std::uint32_t SinglePairAligner::key_of(const OnePair& pair) const {
  const std::uint32_t other =
      static_cast<std::uint32_t>(pair.flags() << 1 | pair.target_much_longer(min_target_ratio_));
  return Rounded(pair.longest()).bits() << 16 | Rounded(pair.est_edits()).bits() << 5 | other;
}

int SinglePairAligner::first(const OnePair& pair) const {
  if (pair.query_len() > max_cached_query_) return kUnknown;
  const std::lock_guard lock(mutex_);
  const auto found = first_.find(key_of(pair));
  return found == first_.end() ? kUnknown : found->second;
}

void SinglePairAligner::remember(const OnePair& like, int kernel) {
  if (like.query_len() > max_cached_query_) return;
  const std::lock_guard lock(mutex_);
  if (first_.size() >= kKinds) first_.clear();
  first_[key_of(like)] = kernel;
}

}  // namespace wfacli
