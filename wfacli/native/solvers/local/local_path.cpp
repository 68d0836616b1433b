#include "solvers/local/local_path.hpp"

#include <algorithm>
#include <stdexcept>

namespace wfacli {

namespace {

constexpr std::int64_t kRowBytes = 2 * sizeof(std::int32_t);  // bytes of a kept row per column
constexpr std::int64_t kMaxCheckpoints = 96;                  // maximum number of kept rows
constexpr double kForever = 1e9;                              // seconds
constexpr std::uint32_t kMaxRunLength = (1u << 28) - 1;       // maximum length of an operation in BAM

// Copy `count` scores of a row from index `first` on; an empty row is all 0.
void copy_part(const Buffer<std::int32_t>& from, std::int64_t first, std::int64_t count, Buffer<std::int32_t>& to) {
  to.resize(static_cast<std::size_t>(count));
  if (from.empty())
    std::fill_n(to.data(), count, 0);
  else
    std::copy_n(from.data() + first, count, to.data());
}

}  // namespace

std::int64_t strips_per_checkpoint(std::int64_t strips, std::int64_t columns, std::int64_t memory) {
  const std::int64_t fit = std::clamp<std::int64_t>(memory / (columns * kRowBytes), 1, kMaxCheckpoints);
  return std::max<std::int64_t>((strips + fit - 1) / fit, 1);
}

LocalPath::LocalPath(const LocalPair& pair, const LocalEntry& start, const std::uint8_t* same, const Options& options)
    : pair_(pair),
      same_(same),
      options_(options),
      row_(start.row),
      column_(start.column),
      needed_(start.needed),
      down_(start.down),
      along_(start.along),
      ended_(start.needed <= 0 && !start.down && !start.along) {}

void LocalPath::trace(std::int64_t row, const LocalRow& top, std::int64_t column) { between(row, top, column); }

void LocalPath::write(LocalOp op) {
  if (!cigar_.empty() && (cigar_.back() & 15) == op && cigar_.back() >> 4 < kMaxRunLength)
    cigar_.back() += 16;
  else
    cigar_.push(1u << 4 | op);
}

// Return the first column of the row above row `row` from which a path can lead to the next cell. `top` begins in
// `column`.
std::int64_t LocalPath::first_column(std::int64_t row, const LocalRow& top, std::int64_t column) const {
  const std::int64_t rows = row_ + 1 - row;
  for (std::int64_t c = column; c <= column_; ++c) {
    const std::int64_t columns = column_ + 1 - c, along = columns - rows;
    std::int64_t max_score = std::min(rows, columns) * pair_.match();
    if (along > 0) max_score -= pair_.open() + along * pair_.extend();
    const auto at = static_cast<std::size_t>(c - column);
    if (!top.h.empty()) max_score += std::max(top.h[at], top.f[at]);
    // The diagonal step of two symbols comes from the column before.
    if (max_score + pair_.match() + pair_.open() + 2 * pair_.extend() >= needed_) return std::max(c - 1, column);
  }
  return column_;
}

void LocalPath::between(std::int64_t row, const LocalRow& top, std::int64_t column) {
  const std::int64_t first = first_column(row, top, column);
  const LocalRegion region{row, row_ + 1 - row, first, column_ + 1 - first};
  const LocalKernel& kernel = pair_.kernel();
  LocalSweepOptions options;
  options.threads = options_.threads;
  options.steps = options_.steps;
  options.needed = needed_;
  options.room = options_.room;
  options.trace = region.rows <= kernel.rows || region.rows * region.columns <= options_.trace;
  // Keep at least one row, or the recursion would not end.
  const std::int64_t strips = (region.rows + kernel.rows - 1) / kernel.rows;
  if (!options.trace)
    options.strips_per_checkpoint = std::max<std::int64_t>(
        std::min(strips_per_checkpoint(strips, region.columns, options_.memory), strips / 2), 1);
  LocalRow part;
  copy_part(top.h, first - column, region.columns, part.h);
  copy_part(top.f, first - column, region.columns, part.f);
  LocalSweep sweep(pair_, region, std::move(part), options);
  sweep.advance(kForever);
  cells_ += sweep.cells();
  if (options.trace) return follow(sweep);
  const std::int64_t every = sweep.checkpoint_distance();
  while (!ended_ && row_ >= row) {
    const std::int64_t checkpoint = (row_ - row) / every;
    if (checkpoint == 0) {
      LocalRow again;
      copy_part(top.h, first - column, region.columns, again.h);
      copy_part(top.f, first - column, region.columns, again.f);
      between(row, again, first);
    } else {
      between(row + checkpoint * every, sweep.checkpoints()[static_cast<std::size_t>(checkpoint - 1)], first);
    }
  }
}

void LocalPath::follow(const LocalSweep& sweep) {
  const LocalRegion& region = sweep.region();
  const std::int32_t first_gap = pair_.open() + pair_.extend();
  while (row_ >= region.row && !ended_) {
    if (column_ < region.column) throw std::logic_error("the path leaves the columns that it must be in");
    const std::uint8_t flags = sweep.trace_at(row_ - region.row, column_ - region.column);
    if (!down_ && !along_) {
      down_ = flags & kTraceGapDown;
      along_ = !down_ && (flags & kTraceGapAlong);
    }
    if (down_) {
      write(kLocalInsertion);
      const bool opens = flags & kTraceOpensDown;
      needed_ += opens ? first_gap : pair_.extend();
      down_ = !opens;
      --row_;
    } else if (along_) {
      write(kLocalDeletion);
      const bool opens = flags & kTraceOpensAlong;
      needed_ += opens ? first_gap : pair_.extend();
      along_ = !opens;
      --column_;
    } else {
      const std::uint8_t q = pair_.row_code(row_), t = pair_.column_code(column_);
      write(q == t && same_[q] ? kLocalSame : kLocalOther);
      needed_ -= pair_.score(q, t);
      --row_;
      --column_;
    }
    ended_ = needed_ == 0 && !down_ && !along_;
  }
}

}  // namespace wfacli
