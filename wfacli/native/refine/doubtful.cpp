// Ends of alignments that may be at a wrong place.
#include <algorithm>
#include <cmath>

#include "format/record_fields.hpp"
#include "refine/repeats.hpp"
#include "refine/walk.hpp"

namespace wfacli {
namespace {

constexpr std::int32_t kMinGap = 4;  // minimum length of a gap that makes an end doubtful, in bases
constexpr std::int32_t kLongGap = 16;  // minimum length of a gap beyond which a repeat may have the end at another copy
constexpr std::int64_t kOutside = 32;  // aligned bases at an end that may be outside of the mapped part
constexpr double kMuch = 1.5;  // standard deviations above the usual loss of an end that make it doubtful
constexpr std::int64_t kNear = 64;  // aligned bases from an end in which seeds may lie beside the best path
constexpr std::int64_t kShort = 4 * kNear;  // aligned bases of an end that is too short for an extension from far inside

// Doubtful places (see UnreliableEnds): the last one, and the last one up to which the path loses.
struct Doubt {
  Place last, losing;
};

// Returns the places where the score alone, or a gap, is doubtful within `max_columns` aligned bases.
Doubt doubts_of_path(InwardWalk walk, std::int64_t max_columns, const AlignOptions& scores) {
  Doubt doubt;
  std::int64_t score = 0, lowest = 0;
  while (walk.next()) {
    score += score_of(walk.op, walk.length, scores);
    if (walk.at.columns > max_columns) break;
    const bool lower = score < lowest;
    if (lower) lowest = score, doubt.losing = walk.at;
    const bool after_gap = is_gap(walk.op) && walk.length >= kMinGap && 2 * walk.length > walk.at.columns - kOutside;
    const bool after_long_gap = is_gap(walk.op) && walk.length >= kLongGap;
    if (lower || after_gap || after_long_gap) doubt.last = walk.at;
  }
  return doubt;
}

// Returns a place in the first long match that is kNear aligned bases inside, if a gap comes before them; else, or if it is
// not within `max_columns`, the end.
Place inside_near_gap(InwardWalk walk, std::int64_t max_columns) {
  bool gap = false;
  while (walk.next() && walk.before.columns < max_columns - kSeed) {
    gap |= is_gap(walk.op) && walk.at.columns <= kNear;
    if (walk.at.columns > kNear && !gap) break;
    if (walk.op != kEqual || walk.at.columns < kNear + kSeed || walk.length < kSeed) continue;
    const std::int64_t into = std::max(kSeed, kNear + kSeed - walk.before.columns);
    if (walk.before.columns + into > max_columns) break;  // the other end's half
    return walk.into(into);
  }
  return {};
}

// What all columns of a path lose against a path of matches.
struct Loss {
  std::int64_t score = 0, columns = 0;

  void add(std::uint32_t op, std::int64_t length, const AlignOptions& scores) {
    const std::int64_t aligned = is_gap(op) ? 0 : length;
    columns += aligned;
    score += aligned * scores.match - score_of(op, length, scores);
  }
};

// A place far inside a path, and what the path loses before it.
struct Inside {
  Place place;
  Loss lost;
};

// Returns a place in the last long match within `max_columns`; the end if there is none.
Inside far_inside(InwardWalk walk, std::int64_t max_columns, const AlignOptions& scores) {
  Inside inside;
  Loss loss;
  while (walk.next() && walk.before.columns < max_columns) {
    const std::int64_t into = std::min(walk.length, max_columns - walk.before.columns);
    if (walk.op == kEqual && into >= kSeed) inside = {walk.into(into), loss};
    loss.add(walk.op, walk.length, scores);
  }
  return inside;
}

// Returns whether the path before a place loses much more than the whole path does on average.
bool is_lossy(const Inside& inside, const Loss& whole, const AlignOptions& scores) {
  // Edits are rare, so their number has about its mean as variance; each costs as much as a mismatch, about.
  const double columns = static_cast<double>(inside.place.columns);
  const double usual = static_cast<double>(whole.score) * columns / static_cast<double>(whole.columns);
  const double edit = scores.match + scores.costs.mismatch;
  return static_cast<double>(inside.lost.score) > usual + kMuch * std::sqrt(edit * usual);
}

// The sequences of a pair as seen from one end of an alignment: places count inwards from there.
class Inward {
 public:
  Inward(const PairView& pair, const std::int32_t* span, bool at_end)
      : query_(pair.query + span[at_end]), target_(pair.target + span[2 + at_end]), at_end_(at_end) {}
  // Return the bases between two places, in their order in the sequence.
  const std::uint8_t* query(std::int64_t from, std::int64_t to) const { return at_end_ ? query_ - to : query_ + from; }
  const std::uint8_t* target(std::int64_t from, std::int64_t to) const { return at_end_ ? target_ - to : target_ + from; }
  bool at_end() const { return at_end_; }

 private:
  const std::uint8_t *query_, *target_;
  bool at_end_;
};

// Returns whether a gap may as well be nearer to the end, behind a copy of its bases, if it is beyond `max_columns` but the copy
// need not be.
bool may_be_nearer(const InwardWalk& walk, const Inward& sequences, std::int64_t max_columns, RepeatFinder& repeats) {
  const Place &near = walk.before, &far = walk.at;
  if (!is_gap(walk.op) || walk.length < kLongGap || far.columns <= max_columns) return false;
  if (far.columns - walk.length > max_columns) return false;
  const std::int64_t beside = std::min(near.target, RepeatFinder::kMaxCopied);
  const std::int64_t inside = std::min<std::int64_t>(walk.length, RepeatFinder::kMaxBases);
  const std::uint8_t* gap = walk.op == kInsertion ? sequences.query(far.query - inside, far.query)
                                                  : sequences.target(far.target - inside, far.target);
  return repeats.is_copy(gap, inside, sequences.target(near.target - beside, near.target), beside);
}

// Returns the place behind the last gap that may be nearer; the end if there is none in this half of the path.
Place behind_movable_gap(InwardWalk walk, const Inward& sequences, std::int64_t max_columns, std::int64_t half,
                         RepeatFinder& repeats) {
  Place behind;
  while (walk.next() && walk.at.columns <= half)
    if (may_be_nearer(walk, sequences, max_columns, repeats)) behind = walk.at;
  return behind;
}

// Returns a place in the first long match behind `bases` bases of the target; the end if there is none within `max_columns`.
Place behind_target(InwardWalk walk, std::int64_t bases, std::int64_t max_columns) {
  while (walk.next() && walk.before.columns < max_columns - kSeed) {
    if (walk.op != kEqual || walk.at.target < bases + kSeed || walk.length < kSeed) continue;
    const std::int64_t into = std::max(kSeed, bases + kSeed - walk.before.target);
    if (walk.before.columns + into > max_columns) break;
    return walk.into(into);
  }
  return {};
}

// Finds the places from which an end is extended again.
class EndTester {
 public:
  EndTester(const AlignOptions& scores, std::int64_t max_columns) : scores_(scores), max_columns_(max_columns) {}

  // Returns the last unreliable places; the end itself if it is reliable.
  Doubt unreliable(const InwardWalk& walk, const Inward& sequences, const Loss& whole) {
    Doubt doubt = doubts_of_path(walk, std::min(max_columns_, whole.columns / 2), scores_);
    doubt.last = last_unreliable(doubt.last, walk, sequences, whole);
    return doubt;
  }

 private:
  // Returns the last unreliable place; `last` is the last one by the path alone.
  Place last_unreliable(Place last, const InwardWalk& walk, const Inward& sequences, const Loss& whole) {
    const std::int64_t half = whole.columns / 2, within = std::min(max_columns_, half);
    const auto reach = [&](const Place& place) {
      if (last.columns < place.columns) last = place;
    };
    reach(inside_near_gap(walk, within));
    reach(behind_movable_gap(walk, sequences, within, half, repeats_));
    const Inside inside = far_inside(walk, within, scores_);
    if (inside.place.columns <= last.columns) return last;
    if (is_lossy(inside, whole, scores_)) return inside.place;
    if (inside.place.columns < kShort) return last;
    if (const std::int64_t bases = end_of_repeat(sequences, inside.place.target)) {
      const Place behind = behind_target(walk, bases, within);
      reach(behind.columns > 0 ? behind : inside.place);
    }
    return last;
  }

  // Returns how many of `bases` bases of the target are a repeat, in which a path may be off by a copy and have short gaps only.
  std::int64_t end_of_repeat(const Inward& sequences, std::int64_t bases) {
    const std::uint8_t* target = sequences.target(0, bases);
    if (sequences.at_end()) {
      reversed_.clear();
      std::uint8_t* to = reversed_.extend(static_cast<std::size_t>(bases));
      std::reverse_copy(target, target + bases, to);
      target = to;
    }
    return repeats_.end_of_repeat(target, bases);
  }

  const AlignOptions& scores_;
  std::int64_t max_columns_;
  RepeatFinder repeats_;
  Buffer<std::uint8_t> reversed_;
};

// Writes the span between two places, which are counted from its ends.
void put_between(const std::int32_t* span, const Place& begin, const Place& end, std::int32_t* to) {
  to[0] = span[0] + static_cast<std::int32_t>(begin.query);
  to[1] = span[1] - static_cast<std::int32_t>(end.query);
  to[2] = span[2] + static_cast<std::int32_t>(begin.target);
  to[3] = span[3] - static_cast<std::int32_t>(end.target);
}

}  // namespace

UnreliableEnds unreliable_ends(const BatchView& batch, const std::int32_t* rows, const AlignmentView& a,
                               const AlignOptions& scores, std::int32_t max_columns) {
  UnreliableEnds out;
  EndTester tester(scores, max_columns);
  for (std::int64_t row = 0; row < a.n; ++row) {
    if (!is_placed(a, row)) continue;
    const std::int32_t* span = a.span + 4 * row;
    const std::uint32_t *first = a.cigar + a.cigar_start[row], *behind = a.cigar + a.cigar_start[row + 1];
    Loss whole;
    for (const std::uint32_t* run = first; run < behind; ++run) whole.add(*run & 15, *run >> 4, scores);
    const PairView pair = batch.pair(rows[row]);
    const std::int64_t count = behind - first;
    const Doubt begin = tester.unreliable(InwardWalk(first, count, 1), Inward(pair, span, false), whole);
    const Doubt end = tester.unreliable(InwardWalk(behind - 1, count, -1), Inward(pair, span, true), whole);
    const std::int64_t query = begin.last.query + end.last.query, target = begin.last.target + end.last.target;
    if (query + target == 0) continue;
    // A gap in the middle is doubtful from either end: then neither half is more reliable than the other.
    if (query > span[1] - span[0] || target > span[3] - span[2]) continue;
    out.rows.push(static_cast<std::int32_t>(row));
    put_between(span, begin.last, end.last, out.inner.extend(4));
    put_between(span, begin.losing, end.losing, out.nearer.extend(4));
  }
  return out;
}

}  // namespace wfacli
