#include "splits.hpp"

#include <algorithm>

#include "written.hpp"

namespace wfacli {
namespace {

void add_run(std::string& out, std::int64_t letters, char operation) {
  if (letters) out += std::to_string(letters) + operation;
}

// An element of SA for a row.
std::string part_of(const BatchView& batch, const AlignmentView& a, std::int64_t i, std::int32_t flags, Ambiguous rule) {
  const MappedView& m = batch.mapped;
  const std::int32_t* span = a.span + 4 * i;
  Cigar scratch;
  const bool split = rule == Ambiguous::Wildcard && (batch.flags[i] & kNonAcgt);
  const Written w = as_written(batch.pair(i).part(span), a.cigar + a.cigar_start[i], a.cigar_start[i + 1] - a.cigar_start[i],
                               split, scratch);
  const std::int64_t query = span[1] - span[0], target = span[3] - span[2];
  std::string out(reinterpret_cast<const char*>(batch.text) + batch.t_name[i], static_cast<std::size_t>(batch.t_name_len[i]));
  out += ',' + std::to_string(m.t_offset[i] + span[2] + 1) + (flags & kReverseStrand ? ",-," : ",+,");
  add_run(out, m.clip_begin[i] + span[0], 'S');
  add_run(out, std::min(query, target), 'M');
  add_run(out, std::max<std::int64_t>(query - target, 0), 'I');
  add_run(out, std::max<std::int64_t>(target - query, 0), 'D');
  add_run(out, m.clip_end[i] + batch.q_len[i] - span[1], 'S');
  return out + ',' + std::to_string(m.mapq[i]) + ',' + std::to_string(w.edits()) + ';';
}

// Makes the best of what is left primary where the primary row is not placed.
void promote(std::vector<Fate>& fates) {
  constexpr std::int32_t kLesser = kSecondary | kSupplementary;
  const auto primary = [](const Fate& f) { return !(f.flags & kLesser); };
  const auto lost = std::find_if(fates.begin(), fates.end(), [&](const Fate& f) { return !f.written && primary(f); });
  if (lost == fates.end()) return;
  auto next = std::find_if(fates.begin(), fates.end(), [](const Fate& f) { return f.written && !(f.flags & kSecondary); });
  if (next == fates.end()) next = std::find_if(fates.begin(), fates.end(), [](const Fate& f) { return f.written; });
  next->flags &= ~kLesser;
}

}  // namespace

bool is_placed(const AlignmentView& a, std::int64_t row) {
  const std::int32_t* span = a.span + 4 * row;
  return static_cast<Status>(a.status[row]) == Status::Ok && span[1] > span[0] && span[3] > span[2];
}

std::vector<Fate> fates_of(const BatchView& batch, const AlignmentView& a, std::int64_t first, std::int64_t end,
                           Ambiguous rule) {
  const auto count = static_cast<std::size_t>(end - first);
  std::vector<Fate> fates(count);
  for (std::size_t k = 0; k < count; ++k) {
    fates[k].flags = batch.mapped.sam_flags[first + static_cast<std::int64_t>(k)];
    fates[k].written = is_placed(a, first + static_cast<std::int64_t>(k));
  }
  if (std::none_of(fates.begin(), fates.end(), [](const Fate& f) { return f.written; })) {
    // The one that has the read's letters.
    std::size_t k = 0;
    while (k + 1 < count && batch.mapped.letters[first + static_cast<std::int64_t>(k)] < 0) ++k;
    fates[k].written = true;
    fates[k].flags = kUnmapped | (fates[k].flags & kReverseStrand);
    return fates;
  }
  promote(fates);
  std::vector<std::size_t> parts;
  for (std::size_t k = 0; k < count; ++k)
    if (fates[k].written && !(fates[k].flags & kSecondary)) parts.push_back(k);
  if (parts.size() < 2) return fates;
  std::stable_partition(parts.begin(), parts.end(), [&](std::size_t k) { return !(fates[k].flags & kSupplementary); });
  std::vector<std::string> texts;
  for (const std::size_t k : parts) texts.push_back(part_of(batch, a, first + static_cast<std::int64_t>(k), fates[k].flags, rule));
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t other = 0; other < parts.size(); ++other)
      if (other != p) fates[parts[p]].other_parts += texts[other];
  return fates;
}

}  // namespace wfacli
