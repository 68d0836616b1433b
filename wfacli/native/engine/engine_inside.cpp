// Alignment of whole queries within targets that have free ends: find by edit distance where paths may begin, then
// align by the costs within that window.
//
// Under other costs a best path has at most E * max_cost / min_cost edits, where E is the minimum number of edits of
// any path and an edit costs `min_cost` to `max_cost` (EditRange). The target bases that paths of that many edits can
// reach form a window that contains all best paths, and that is usually much shorter than the target.
#include <algorithm>

#include "engine/engine.hpp"

namespace wfacli {
namespace {

// Relative times of a column: of one pair over all lanes; of one word of a vector of pairs, and of their last row.
constexpr std::int64_t kSlabTime = 20, kWordTime = 7, kLanesTime = 8;

bool supports(const AlignOptions& o) {
  return o.match == 0 && !o.extension && !o.free.query_begin && !o.free.query_end && !o.heuristics.any();
}

EditRange range_of(const Costs& c) {
  EditRange range = {c.mismatch, INT32_MAX};
  for (int g = 0; g < c.pieces; ++g) {
    range.min_cost = std::min(range.min_cost, c.gap[g].extend);
    range.max_cost = std::min(range.max_cost, c.gap[g].open + c.gap[g].extend);
  }
  range.max_cost = std::max(range.max_cost, c.mismatch);
  return range;
}

bool by_edits(const Costs& c) { return c.mismatch == 1 && c.linear() && c.gap[0].extend == 1; }

// True if a wavefront is expected to align the window faster than banded dynamic programming: it does if the edits are
// few for the length of the query. Times are in microseconds, from the models of wfacli/core/tuning.py.
bool few_edits(const KernelTask& t) {
  const double cost = t.estimate, diagonals = t.target_len - t.query_len;
  const double cell = t.costs.linear() ? 0.0018 : 0.00042 * (1 + 2 * t.costs.pieces);
  return cell * cost * (cost + 80 + 1.6 * diagonals) < 1.5 + 0.012 * t.query_len;
}

}  // namespace

// Narrow the window to the target bases that paths of at most `max_cost` edits can reach.
void Aligner::InsideRow::narrow(std::int64_t max_cost) {
  PairView& view = pair.pair;
  const InsidePart part(view.query_len, view.target_len, pair.free_begin, pair.free_end, max_cost);
  before += part.first;
  after += view.target_len - part.end;
  view.target += part.first;
  view.target_len = part.end - part.first;
  pair.free_begin = part.free_begin;
  pair.free_end = part.free_end;
}

// Narrow the window to paths of at most `edits` edits that begin after `min_skip` to `max_skip` of its target bases.
void Aligner::InsideRow::begin_within(std::int32_t min_skip, std::int32_t max_skip, std::int64_t edits) {
  before += min_skip;
  pair.pair.target += min_skip;
  pair.pair.target_len -= min_skip;
  pair.free_begin = max_skip - min_skip;
  narrow(edits);
}

// Return the widest window of a pair: the target bases that a best path can reach, whatever it costs.
Aligner::InsideRow Aligner::row_of(const PairView& pair, const AlignOptions& options) {
  const FreeEnds& free = options.free;
  InsideRow row = {{pair, free.target_begin, free.target_end}, 0, 0, {}, 0};
  const std::int64_t max_cost = max_inside_cost(pair.query_len, pair.target_len, free.target_begin, free.target_end);
  row.narrow(range_of(options.costs).max_edits(max_cost));
  return row;
}

void Aligner::align_inside(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                           const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  constexpr std::int64_t kChunk = 512;
  const bool supported = supports(options), paths = by_edits(options.costs);
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t last = std::min(first + kChunk, count);
    // A few pairs would leave most lanes empty; then one pair over all lanes is faster.
    const auto in_lanes = [&](std::int64_t r) {
      const std::int32_t i = rows[r], n = batch.q_len[i], m = batch.t_len[i];
      return supported && !(batch.flags[i] & kNonAcgt) && n > 0 && n <= 64 * kMaxInsideWords && m > 0 &&
             m <= kMaxInsideLength && kSlabTime * (last - first) >= kWordTime * ((n + 63) / 64) + kLanesTime;
    };
    inside_.clear();
    for (std::int64_t r = first; r < last; ++r) {
      if (!in_lanes(r)) continue;
      const PairView pair = batch.pair(rows[r]);
      inside_.push(row_of(pair, options));
    }
    solve_inside(false, options, cancelled);
    if (paths) solve_inside(true, options, cancelled);
    std::size_t next = 0;
    for (std::int64_t r = first; r < last; ++r) {
      const std::int32_t i = rows[r];
      const Work work{batch.pair(i), !(batch.flags[i] & kNonAcgt), batch.est_edits[i], options, cancelled};
      out.cigar.begin();
      KernelAnswer answer{.status = Status::Unsupported};
      if (in_lanes(r) && paths) {
        const InsideRow& row = inside_[next++];
        answer = {.status = row.answer.status,
                  .score = -row.answer.edits,
                  .target_skip = row.before,
                  .target_skip_end = row.after + row.answer.skip_end};
        out.cigar.runs().append(inside_cigar_.runs().data() + row.cigar,
                                static_cast<std::size_t>(row.answer.cigar_end - row.cigar));
      } else if (in_lanes(r)) {
        answer = align_window(work, inside_[next++], out.cigar);
      } else if (supported) {
        answer = search_inside(work, out.cigar);
      }
      if (answer.status != Status::Ok || !options.path) out.cigar.drop();
      add_row(work.pair, answer, static_cast<std::int64_t>(out.cigar.runs().size()), out);
    }
  }
}

// Find where the paths of inside_ begin or, with `path`, the paths themselves under edit distance. Rows of similar
// size share a vector.
void Aligner::solve_inside(bool path, const AlignOptions& options, const CancelFlag& cancelled) {
  inside_order_.clear();
  inside_cigar_.runs().clear();
  const EditRange range = range_of(options.costs);
  for (std::size_t x = 0; x < inside_.size(); ++x)
    if (inside_[x].answer.status == Status::Ok) inside_order_.push(static_cast<std::int32_t>(x));
  const auto row = [&](std::int32_t x) -> InsideRow& { return inside_[static_cast<std::size_t>(x)]; };
  std::sort(inside_order_.data(), inside_order_.data() + inside_order_.size(), [&](std::int32_t a, std::int32_t b) {
    const auto key = [&](std::int32_t x) { return std::int64_t{row(x).words()} << 32 | row(x).pair.pair.target_len; };
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  for (std::size_t first = 0, last; first < inside_order_.size(); first = last) {
    const std::int32_t words = row(inside_order_[first]).words();
    inside_pairs_.clear();
    for (last = first; last < inside_order_.size() && row(inside_order_[last]).words() == words; ++last)
      inside_pairs_.push(row(inside_order_[last]).pair);
    inside_answers_.resize(inside_pairs_.size());
    const InsideTask task{inside_pairs_.data(), static_cast<std::int32_t>(inside_pairs_.size()), words, path, range,
                          options.table_bytes, &cancelled};
    std::int64_t cigar = static_cast<std::int64_t>(inside_cigar_.runs().size());
    entry_.inside(task, memory_.bits, inside_cigar_, inside_answers_.data());
    for (std::size_t x = first; x < last; ++x) {
      InsideRow& found = row(inside_order_[x]);
      found.answer = inside_answers_[x - first];
      found.cigar = cigar;
      cigar = found.answer.cigar_end;
      if (path || found.answer.status != Status::Ok) continue;
      // Each edit costs at least range.min_cost, even inside a gap.
      if (options.max_cost >= 0 && std::int64_t{found.answer.edits} * range.min_cost > options.max_cost)
        found.answer.status = Status::ScoreLimit;
      found.begin_within(found.answer.min_skip_begin, found.answer.max_skip_begin,
                         range.max_edits(found.answer.edits));
    }
  }
}

// Align one pair that the `inside` kernel does not accept (too long, or bases other than A C G T), or one of so few
// pairs that a vector would be mostly empty.
KernelAnswer Aligner::search_inside(const Work& whole, Cigar& cigar) {
  Work work = whole;
  const PairView& pair = whole.pair;
  const AlignOptions& options = work.options;
  if (std::int64_t{pair.query_len} + pair.target_len > INT32_MAX / 2) return {.status = Status::LengthLimit};
  if (pair.query_len == 0 || pair.target_len == 0) return {.status = Status::Unsupported};
  if (matches_by_bits(options.ambiguous) && !work.plain) return {.status = Status::Unsupported};
  const EditRange range = range_of(options.costs);
  InsideRow row = row_of(pair, options);
  work.pair = row.pair.pair;
  encode(work.pair, work.plain, options.ambiguous, true);
  KernelTask task = task_of(work);
  task.free = {.target_begin = row.pair.free_begin, .target_end = row.pair.free_end};
  task.estimate = work.estimate;
  task.max_score = options.max_cost < 0 ? INT32_MAX / 2 : options.max_cost / range.min_cost;
  const SlabKernel slab = entry_.edit().low_slab;
  InsideSearch search(task, slab, memory_.inside);
  const KernelAnswer found = search.run();
  if (found.status != Status::Ok) return found;
  row.answer = {.edits = static_cast<std::int32_t>(found.score),
                .min_skip_begin = found.target_skip,
                .max_skip_begin = found.target_skip};
  const std::int64_t edits = range.max_edits(found.score);
  // If edits differ in cost, other paths with as many edits may cost less.
  const bool others = found.score > 0 && range.max_cost > range.min_cost;
  // Random sequences have about half as many edits as bases. With 9/20 or more, a path may begin anywhere.
  if (others && 20 * edits > 9 * std::int64_t{pair.query_len}) return align_window(whole, row, cigar);
  if (others) {
    const InsideSearch::Skips skips = search.within(edits);
    row.answer.min_skip_begin = skips.min_skip;
    row.answer.max_skip_begin = skips.max_skip;
  }
  if (work.cancelled.is_set()) return {.status = Status::Dropped};
  row.begin_within(row.answer.min_skip_begin, row.answer.max_skip_begin, edits);
  return align_window(whole, row, cigar);
}

// Align a pair within its window, given the least number of edits.
KernelAnswer Aligner::align_window(const Work& whole, const InsideRow& row, Cigar& cigar) {
  if (row.answer.status != Status::Ok) return {.status = row.answer.status};
  Work work = whole;
  work.pair = row.pair.pair;
  work.estimate = row.answer.edits;
  KernelAnswer answer;
  if (work.estimate > 0) {
    encode(work.pair, work.plain, work.options.ambiguous, true);
    KernelTask task = task_of(work);
    task.free = {.target_begin = row.pair.free_begin, .target_end = row.pair.free_end};
    if (by_edits(work.options.costs)) task.max_score = work.estimate;
    answer = few_edits(task) ? entry_.wavefront(task, memory_.wavefront, cigar)
                             : entry_.difference(task, memory_.difference, cigar);
    if (answer.status != Status::Ok) return {.status = user_status(answer.status, task, work.options)};
    set_score(answer, -answer.score * work.options.unit);
    if (answer.status != Status::Ok) return answer;
  } else {
    cigar.add(kEqual, work.pair.query_len);
    answer.target_skip_end = work.pair.target_len - work.pair.query_len;
  }
  answer.target_skip += row.before;
  answer.target_skip_end += row.after;
  return answer;
}

}  // namespace wfacli
