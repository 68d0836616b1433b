// Breakpoints of split reads: overlaps between parts are trimmed, and parts that add nothing are left out.
#include <algorithm>
#include <tuple>
#include <vector>

#include "format/record_fields.hpp"
#include "mapped/mappings.hpp"
#include "refine/ends.hpp"
#include "refine/path.hpp"
#include "refine/reads.hpp"

namespace wfacli {
namespace {

// Aligned part of a read, in coordinates of the read as sequenced.
struct Part : OnRead {
  std::int64_t row;
  bool primary, piece;
  std::int64_t beg, end;  // the mapped part
  std::int64_t middle() const { return (beg + end) / 2; }
  bool is_left_of(const Part& other) const { return beg < other.beg && end < other.end; }
};

class OverlapTrimmer {
 public:
  OverlapTrimmer(const BatchView& batch, const AlignmentView& a, const std::int32_t* inner, const AlignOptions& scores,
                 const EndWorth& worth)
      : batch_(batch), a_(a), inner_(inner), scores_(scores), worth_(worth), place_(static_cast<std::size_t>(batch.n), -1) {}

  // Leaves out and trims the rows of one read.
  void read(std::int64_t first, std::int64_t end) {
    parts_.clear();
    for (std::int64_t row = first; row < end; ++row)
      if (is_placed(a_, row) && !(batch_.mapped.sam_flags[row] & (kSecondary | kUnmapped))) parts_.push_back(part_of(row));
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& x, const Part& y) { return x.middle() < y.middle(); });
    leave_out_pieces();
    leave_out_covered();
    leave_out_copies();
    // Neighbours first: where a part lies between two, what they share of it is not theirs to divide.
    for (std::size_t distance = 1; distance < parts_.size(); ++distance)
      for (std::size_t i = 0; i + distance < parts_.size(); ++i)
        if (parts_[i].is_left_of(parts_[i + distance])) cut(parts_[i], parts_[i + distance]);
    leave_out_copies();  // parts may be alike since they were cut
    leave_out_secondaries(first, end);
  }

  // Removes gaps and losses at the ends of a row, and all but the best part of an alignment that scores nothing (see
  // Path::keep_best_part). An alignment of gaps alone then has no place.
  void tidy(std::int64_t row) {
    if (!is_placed(a_, row)) return;
    const std::uint32_t *first = a_.cigar + a_.cigar_start[row], *last = a_.cigar + a_.cigar_start[row + 1] - 1;
    if (last < first) return;
    if (score_of_runs(runs_of(row), scores_) <= 0) path_of(row).keep_best_part(scores_, worth_.least);
    if (is_gap(*first & 15) || is_gap(*last & 15)) {
      path_of(row).drop(0, true);
      path_of(row).drop(0, false);
    }
    for (const bool front : {true, false}) drop_poor_end(row, front);
  }

  const Path* cut_path(std::int64_t row) const {
    const std::int64_t at = place_[static_cast<std::size_t>(row)];
    return at < 0 ? nullptr : &paths_[static_cast<std::size_t>(at)];
  }
  bool is_left_out(std::int64_t row) const { return std::binary_search(left_out_.begin(), left_out_.end(), row); }
  bool any() const { return !paths_.empty() || !left_out_.empty(); }

 private:
  void drop_poor_end(std::int64_t row, bool front) {
    const PoorEnd end = poor_end(runs_of(row), front, scores_, worth_.least);
    const std::int32_t* span = span_of(row);
    const MappedView& m = batch_.mapped;
    const bool whole = front ? m.clip_begin[row] + span[0] == 0 : m.clip_end[row] + batch_.q_len[row] - span[1] == 0;
    if (end.loss > (whole ? worth_.bonus : 0)) path_of(row).drop(end.bases, front);
  }

  Part part_of(std::int64_t row) const {
    const MappedView& m = batch_.mapped;
    const std::int32_t *inner = inner_ + 4 * row, *span = a_.span + 4 * row;
    std::int32_t mapped[2] = {std::max(inner[0], span[0]), std::min(inner[1], span[1])};
    if (mapped[0] >= mapped[1]) std::copy_n(span, 2, mapped);  // an extension from further inside has left the mapped part
    const OnRead on_read(batch_, row);
    const auto [beg, end] = part_on_read(on_read, mapped);
    return {on_read, row, !(m.sam_flags[row] & kSupplementary), (m.sam_flags[row] & (kPiece | kInversion)) != 0, beg, end};
  }

  const std::int32_t* span_of(std::int64_t row) const {
    const Path* path = cut_path(row);
    return path ? path->span : a_.span + 4 * row;
  }
  std::int64_t begin_of(const Part& p) const { return part_on_read(p, span_of(p.row)).beg; }
  std::int64_t end_of(const Part& p) const { return part_on_read(p, span_of(p.row)).end; }

  std::span<const std::uint32_t> runs_of(std::int64_t row) const {
    if (const Path* path = cut_path(row)) return path->runs;
    return {a_.cigar + a_.cigar_start[row], a_.cigar + a_.cigar_start[row + 1]};
  }

  // Returns a copy of a row's path.
  Path current(std::int64_t row) const {
    if (const Path* path = cut_path(row)) return *path;
    Path path{{a_.cigar + a_.cigar_start[row], a_.cigar + a_.cigar_start[row + 1]}, {}, {}};
    std::copy_n(a_.span + 4 * row, 4, path.span);
    std::copy_n(path.span, 2, path.bound);
    return path;
  }

  Path& path_of(std::int64_t row) {
    std::int64_t& at = place_[static_cast<std::size_t>(row)];
    if (at < 0) {
      Path path = current(row);
      at = static_cast<std::int64_t>(paths_.size());
      paths_.push_back(std::move(path));
    }
    return paths_[static_cast<std::size_t>(at)];
  }

  // Same as scores_after_cut(), for cut positions from `low` to `high` on the read.
  std::vector<std::int64_t> left_of(const Part& p, bool before, std::int64_t low, std::int64_t high) const {
    const Path path = current(p.row);
    if (!p.reverse) return scores_after_cut(path, before, p.in_row(low), p.in_row(high), scores_);
    std::vector<std::int64_t> found = scores_after_cut(path, !before, p.in_row(high), p.in_row(low), scores_);
    std::reverse(found.begin(), found.end());
    return found;
  }

  // Cuts a path of a part, and removes what the new end loses.
  void cut_path_at(Path& path, const Part& p, bool before, std::int64_t place) const {
    const std::int64_t at = p.in_row(place);
    const bool front = before == p.reverse;
    const std::int64_t bases = front ? at - path.span[0] : path.span[1] - at;
    if (bases <= 0) return;
    path.drop(bases, front);
    path.drop(poor_end(path.runs, front, scores_, worth_.least).bases, front);
    path.bound[front ? 0 : 1] = static_cast<std::int32_t>(at);
  }

  std::int64_t score_after_cut(const Part& p, bool before, std::int64_t place) const {
    Path path = current(p.row);
    cut_path_at(path, p, before, place);
    return score_of_runs(path.runs, scores_);
  }

  // Returns the base at which two parts that overlap are best cut.
  std::int64_t breakpoint(const Part& left, const Part& right) const {
    const std::int64_t begin = begin_of(right), end = end_of(left);
    std::int64_t low = std::max(begin, left.middle()), high = std::min(end, right.middle());
    if (low > high) low = high = (begin + end) / 2;
    const std::vector<std::int64_t> before = left_of(left, true, low, high), behind = left_of(right, false, low, high);
    std::int64_t best = low, most = before[0] + behind[0];
    for (std::int64_t place = low + 1; place <= high; ++place) {
      const auto k = static_cast<std::size_t>(place - low);
      const std::int64_t total = before[k] + behind[k];
      if (total > most || (left.primary && total == most)) best = place, most = total;
    }
    return best;
  }

  void cut(const Part& left, const Part& right) {
    if (begin_of(right) >= end_of(left)) return;
    const std::int64_t place = breakpoint(left, right);
    cut_path_at(path_of(left.row), left, true, place);
    cut_path_at(path_of(right.row), right, false, place);
  }

  std::int64_t score_of_path(const Part& p) const { return score_of_runs(runs_of(p.row), scores_); }

  // Returns whether two parts share 7 of 8 bases of the longer or the shorter one, on the read and on the reference.
  bool are_copies(const Part& x, const Part& y, bool of_longer) const {
    if (x.reverse != y.reverse || batch_.target_name(x.row) != batch_.target_name(y.row)) return false;
    const auto share = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
      const std::int64_t whole = of_longer ? std::max(b - a, d - c) : std::min(b - a, d - c);
      return 8 * (std::min(b, d) - std::max(a, c)) >= 7 * whole;
    };
    const std::int32_t *of_x = span_of(x.row), *of_y = span_of(y.row);
    const std::int64_t x_at = batch_.mapped.t_offset[x.row], y_at = batch_.mapped.t_offset[y.row];
    return share(begin_of(x), end_of(x), begin_of(y), end_of(y)) &&
           share(x_at + of_x[2], x_at + of_x[3], y_at + of_y[2], y_at + of_y[3]);
  }

  // Returns which of two parts is a copy of the other; the number of parts if none is. A part inside of another may be
  // shorter. The primary part is the copy of none. Parts with another between them are each of their own: each is cut
  // where that one begins or ends.
  std::size_t copy_of(std::size_t i, std::size_t j) const {
    const Part &x = parts_[i], &y = parts_[j];
    const bool nested = !x.is_left_of(y) && !y.is_left_of(x);
    if ((x.primary && y.primary) || !are_copies(x, y, !nested)) return parts_.size();
    for (std::size_t k = i + 1; k < j; ++k)
      if (x.is_left_of(parts_[k]) && parts_[k].is_left_of(y)) return parts_.size();
    const std::size_t less = score_of_path(x) < score_of_path(y) ? i : j;
    if (!parts_[less].primary) return less;
    return are_copies(x, y, true) ? i + j - less : parts_.size();
  }

  void leave_out(std::size_t k) {
    const std::int64_t row = parts_[k].row;
    left_out_.insert(std::upper_bound(left_out_.begin(), left_out_.end(), row), row);
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(k));
  }

  // Leaves out supplementary parts that the mapper has no mapping for, if half of their bases or more are in the mapped part
  // of one that scores more, as the mapper would have.
  void leave_out_pieces() {
    for (std::size_t k = 0; k < parts_.size();) {
      const Part& piece = parts_[k];
      const bool left_out = piece.piece && !piece.primary &&
                            std::any_of(parts_.begin(), parts_.end(), [&](const Part& other) { return has_half(other, piece); });
      if (left_out)
        leave_out(k);
      else
        ++k;
    }
  }

  bool has_half(const Part& other, const Part& piece) const {
    if (other.row == piece.row) return false;
    const std::int64_t begin = begin_of(piece), end = end_of(piece);
    if (2 * (std::min(other.end, end) - std::max(other.beg, begin)) < end - begin) return false;
    return score_of_path(other) > score_of_path(piece) - (other.piece ? 0 : 1);
  }

  // Leaves out secondary rows with the place of another row.
  void leave_out_secondaries(std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = first; row < end; ++row)
      if (is_placed(a_, row) && !is_left_out(row)) rows.push_back(row);
    const auto is_secondary = [&](std::int64_t row) { return (batch_.mapped.sam_flags[row] & kSecondary) != 0; };
    if (std::none_of(rows.begin(), rows.end(), is_secondary)) return;
    const auto place = [&](std::int64_t row) {
      const std::int32_t* span = span_of(row);
      const std::int64_t at = batch_.mapped.t_offset[row], clip = batch_.mapped.clip_begin[row];
      return std::tuple(batch_.target_name(row), batch_.mapped.sam_flags[row] & kReverseStrand, at + span[2], at + span[3],
                        clip + span[0], clip + span[1]);
    };
    std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t x, std::int64_t y) {
      return std::tuple(place(x), is_secondary(x)) < std::tuple(place(y), is_secondary(y));
    });
    for (std::size_t k = 1; k < rows.size(); ++k)
      if (is_secondary(rows[k]) && place(rows[k]) == place(rows[k - 1]))
        left_out_.insert(std::upper_bound(left_out_.begin(), left_out_.end(), rows[k]), rows[k]);
  }

  void leave_out_copies() {
    std::int64_t longest = 0;
    for (const Part& part : parts_) longest = std::max({longest, part.end - part.beg, end_of(part) - begin_of(part)});
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (std::size_t j = i + 1; j < parts_.size() && parts_[j].middle() - parts_[i].middle() <= longest;) {
        const std::size_t copy = copy_of(i, j);
        if (copy == parts_.size()) {
          ++j;
          continue;
        }
        leave_out(copy);
        if (copy == i) j = i + 1;
      }
  }

  // Returns what two neighbours score together after they are cut.
  std::int64_t score_of_both(const Part& left, const Part& right) const {
    if (begin_of(right) >= end_of(left)) return score_of_path(left) + score_of_path(right);
    if (are_copies(left, right, true)) return std::max(score_of_path(left), score_of_path(right));
    const std::int64_t place = breakpoint(left, right);
    return score_after_cut(left, true, place) + score_after_cut(right, false, place);
  }

  // Leaves out supplementary parts if a part beside them goes through their middle, and its neighbours score no less
  // without it.
  void leave_out_covered() {
    for (std::size_t j = 0; j < parts_.size();)
      if (is_covered(j))
        leave_out(j);
      else
        ++j;
  }

  bool is_covered(std::size_t j) const {
    const Part &part = parts_[j], *left = nullptr, *right = nullptr;
    if (part.primary) return false;
    for (std::size_t i = j; i-- > 0 && !left;)
      if (parts_[i].is_left_of(part)) left = &parts_[i];
    for (std::size_t k = j + 1; k < parts_.size() && !right; ++k)
      if (part.is_left_of(parts_[k])) right = &parts_[k];
    const bool from_left = left && end_of(*left) > part.middle(), from_right = right && begin_of(*right) < part.middle();
    if (!from_left && !from_right) return false;
    const std::int64_t own = score_of_path(part);
    const std::int64_t with_it = (left ? score_of_both(*left, part) : own) + (right ? score_of_both(part, *right) - own : 0);
    if (left && right) return score_of_both(*left, *right) >= with_it;
    return score_of_path(left ? *left : *right) >= with_it;
  }

  const BatchView& batch_;
  const AlignmentView& a_;
  const std::int32_t* inner_;
  const AlignOptions& scores_;
  const EndWorth worth_;
  std::vector<std::int64_t> place_;  // index of each row in paths_, or -1
  std::vector<Path> paths_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> left_out_;  // rows, in order
};

// Writes how far the ends of a path that was trimmed from `whole` may go. Ends that were not trimmed stay.
void put_reach(const Path& path, const std::int32_t* whole, const std::int32_t* room, std::int32_t* reach) {
  std::copy_n(path.span, 4, reach);
  for (const int side : {0, 1})
    if (path.span[side] != whole[side] || path.span[2 + side] != whole[2 + side])
      reach[side] = path.bound[side], reach[2 + side] = room[2 + side];
}

}  // namespace

TrimmedOverlaps trim_overlaps(const BatchView& batch, const AlignmentView& a, const MappedSpans& mapped, const SomeRows& some,
                              const EndWorth& worth, const AlignOptions& scores, const AlignOptions& options) {
  OverlapTrimmer trimmer(batch, a, mapped.inner, scores, worth);
  const std::int32_t *next = some.rows, *last = some.rows + some.n;
  for (std::int64_t first = 0, end; first < batch.n && next < last; first = end) {
    end = end_of_read(batch, first);
    if (*next >= end) continue;
    while (next < last && *next < end) ++next;
    for (std::int64_t row = first; row < end; ++row) trimmer.tidy(row);
    if (end > first + 1) trimmer.read(first, end);
  }
  TrimmedOverlaps out;
  out.any = trimmer.any();
  if (!out.any) return out;
  out.cigar_start.push(0);
  for (std::int64_t row = 0; row < batch.n; ++row) {
    if (trimmer.is_left_out(row)) continue;
    const Path* path = trimmer.cut_path(row);
    const std::int32_t* span = path ? path->span : a.span + 4 * row;
    std::int64_t score = a.score[row];
    if (path) {
      score = score_of_runs(path->runs, options);
      out.cigar.runs().append(path->runs.data(), path->runs.size());
      out.rows.push(static_cast<std::int32_t>(out.kept.size()));
      put_reach(*path, a.span + 4 * row, mapped.room + 4 * row, out.reach.extend(4));
    } else {
      out.cigar.runs().append(a.cigar + a.cigar_start[row],
                              static_cast<std::size_t>(a.cigar_start[row + 1] - a.cigar_start[row]));
    }
    out.kept.push(static_cast<std::int32_t>(row));
    out.score.push(static_cast<std::int32_t>(score));
    std::copy_n(span, 4, out.span.extend(4));
    out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
  }
  return out;
}

}  // namespace wfacli
