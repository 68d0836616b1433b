#include "format/record_fields.hpp"

#include <algorithm>
#include <iterator>

#include "base/reverse_complement.hpp"
#include "mapped/mates.hpp"
#include "format/sam_alignment.hpp"

namespace wfacli {
namespace {

void add_run(std::string& out, std::int64_t length, char operation) {
  if (length) out += std::to_string(length) + operation;
}

// Returns the element of SA for a row.
std::string part_of(const BatchView& batch, const AlignmentView& a, std::int64_t i, std::int32_t flags, Ambiguous rule) {
  const MappedView& m = batch.mapped;
  const std::int32_t* span = a.span + 4 * i;
  Cigar scratch;
  const bool split = needs_resolving(rule, batch.flags[i]);
  const SamAlignment w = to_sam_alignment(batch.pair(i).part(span), a.cigar + a.cigar_start[i],
                                          a.cigar_start[i + 1] - a.cigar_start[i], split, scratch);
  const std::int64_t query = span[1] - span[0], target = span[3] - span[2];
  std::string out(batch.target_name(i));
  out += ',' + std::to_string(m.t_offset[i] + span[2] + 1) + (flags & kReverseStrand ? ",-," : ",+,");
  add_run(out, m.clip_begin[i] + span[0], 'S');
  add_run(out, std::min(query, target), 'M');
  add_run(out, std::max<std::int64_t>(query - target, 0), 'I');
  add_run(out, std::max<std::int64_t>(target - query, 0), 'D');
  add_run(out, m.clip_end[i] + batch.q_len[i] - span[1], 'S');
  return out + ',' + std::to_string(m.mapq[i]) + ',' + std::to_string(w.edits()) + ';';
}

// Makes the first remaining row primary if the primary row is not placed; prefers rows that are not secondary. Returns the
// row, or -1.
std::int64_t promote(std::vector<RecordFields>& fields) {
  constexpr std::int32_t kLesser = kSecondary | kSupplementary;
  const auto primary = [](const RecordFields& f) { return !(f.flags & kLesser); };
  const auto lost =
      std::find_if(fields.begin(), fields.end(), [&](const RecordFields& f) { return !f.written && primary(f); });
  if (lost == fields.end()) return -1;
  auto next = std::find_if(fields.begin(), fields.end(),
                           [](const RecordFields& f) { return f.written && !(f.flags & kSecondary); });
  if (next == fields.end())
    next = std::find_if(fields.begin(), fields.end(), [](const RecordFields& f) { return f.written; });
  next->flags &= ~kLesser;
  return next - fields.begin();
}

// Returns the bases and the quality of a read, which row `from` has, on the strand of row `to`; see RecordFields::read.
std::string read_on_strand(const BatchView& batch, std::int64_t from, std::int64_t to) {
  const MappedView& m = batch.mapped;
  const auto length = static_cast<std::size_t>(m.clip_begin[from] + batch.q_len[from] + m.clip_end[from]);
  const auto* text = reinterpret_cast<const char*>(batch.text);
  const bool has_quality = batch.qual[from] >= 0;
  std::string read(text + m.read_start[from], length);
  if (has_quality) read.append(text + batch.qual[from], length);
  if ((m.sam_flags[from] ^ m.sam_flags[to]) & kReverseStrand) {
    auto* bases = reinterpret_cast<std::uint8_t*>(read.data());
    reverse_complement(bases, length);
    if (has_quality) reverse(bases + length, length);
  }
  return read;
}

// Rows of one mate.
struct Mate {
  std::vector<RecordFields>* fields;
  std::int64_t first;  // row

  // Returns the row of the mapped primary record, or -1.
  std::int64_t primary() const {
    for (std::size_t k = 0; k < fields->size(); ++k)
      if (const RecordFields& f = (*fields)[k]; f.written && !(f.flags & (kUnmapped | kSecondary | kSupplementary)))
        return first + static_cast<std::int64_t>(k);
    return -1;
  }
  // True if its primary record, mapped or not, has SEQ on the reverse strand.
  bool reverse() const {
    return std::any_of(fields->begin(), fields->end(), [](const RecordFields& f) {
      return f.written && !(f.flags & (kSecondary | kSupplementary)) && f.flags & kReverseStrand;
    });
  }
};

// Clears the proper-pair flag of unmapped rows of a read whose mate has no rows, since the mate's position is unknown.
void forget_mate(std::vector<RecordFields>& fields) {
  for (RecordFields& f : fields)
    if (f.flags & kUnmapped) f.flags &= ~kProper;
}

// Sets the fields of a mate's records that refer to the other mate. `own` and `theirs`: rows of the primary records of
// this and the other mate, -1 if unmapped; `reverse`: strand of the other mate; `together`: both are on one target;
// `length`: TLEN of this mate.
void set_mate_fields(const Mate& mate, std::int64_t own, std::int64_t theirs, bool reverse, bool together,
                     std::int64_t length) {
  for (RecordFields& f : *mate.fields) {
    f.flags &= ~(kMateUnmapped | kMateReverse | (together ? 0 : kProper));
    if (theirs < 0) f.flags |= kMateUnmapped;
    if (reverse) f.flags |= kMateReverse;
    f.next = theirs < 0 ? own : theirs;
    f.mate = theirs;
    if (f.flags & kUnmapped) f.mapped_mate = theirs;
    f.template_length = length;
  }
}

void link(const BatchView& batch, const AlignmentView& a, const Mate& one, const Mate& other) {
  const std::int64_t p = one.primary(), q = other.primary();
  const bool together = p >= 0 && q >= 0 && batch.target_name(p) == batch.target_name(q);
  std::int64_t length = 0;
  if (together) {
    const auto begin = [&](std::int64_t row) { return batch.mapped.t_offset[row] + a.span[4 * row + 2]; };
    const auto end = [&](std::int64_t row) { return batch.mapped.t_offset[row] + a.span[4 * row + 3]; };
    length = std::max(end(p), end(q)) - std::min(begin(p), begin(q));
    if (begin(q) < begin(p)) length = -length;
  }
  const bool reverse = one.reverse();
  set_mate_fields(one, p, q, other.reverse(), together, length);
  set_mate_fields(other, q, p, reverse, together, -length);
}

}  // namespace

bool is_placed(const AlignmentView& a, std::int64_t row) {
  const std::int32_t* span = a.span + 4 * row;
  return static_cast<Status>(a.status[row]) == Status::Ok && span[1] > span[0] && span[3] > span[2];
}

// Returns the record fields of the rows of one read.
static std::vector<RecordFields> resolve_read(const BatchView& batch, const AlignmentView& a, std::int64_t first,
                                              std::int64_t end, Ambiguous rule) {
  const auto count = static_cast<std::size_t>(end - first);
  std::vector<RecordFields> fields(count);
  for (std::size_t k = 0; k < count; ++k) {
    fields[k].flags = batch.mapped.sam_flags[first + static_cast<std::int64_t>(k)] & kSamFlags;
    fields[k].written = is_placed(a, first + static_cast<std::int64_t>(k));
  }
  if (std::none_of(fields.begin(), fields.end(), [](const RecordFields& f) { return f.written; })) {
    // Write the row that has the sequence of the read.
    std::size_t k = 0;
    while (k + 1 < count && batch.mapped.read_start[first + static_cast<std::int64_t>(k)] < 0) ++k;
    fields[k].written = true;
    fields[k].flags = kUnmapped | (fields[k].flags & ~(kSecondary | kSupplementary));
    return fields;
  }
  const std::int64_t promoted = promote(fields);
  if (promoted >= 0 && batch.mapped.read_start[first + promoted] < 0)
    for (std::int64_t row = first; row < end; ++row)
      if (batch.mapped.read_start[row] >= 0) {
        fields[static_cast<std::size_t>(promoted)].read = read_on_strand(batch, row, first + promoted);
        break;
      }
  std::vector<std::size_t> parts;
  for (std::size_t k = 0; k < count; ++k)
    if (fields[k].written && !(fields[k].flags & kSecondary)) parts.push_back(k);
  if (parts.size() < 2) return fields;
  std::stable_partition(parts.begin(), parts.end(),
                        [&](std::size_t k) { return !(fields[k].flags & kSupplementary); });
  std::vector<std::string> texts;
  for (const std::size_t k : parts)
    texts.push_back(part_of(batch, a, first + static_cast<std::int64_t>(k), fields[k].flags, rule));
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t other = 0; other < parts.size(); ++other)
      if (other != p) fields[parts[p]].sa_tag += texts[other];
  return fields;
}

std::vector<RecordFields> resolve_template(const BatchView& batch, const AlignmentView& a, std::int64_t first,
                                           std::int64_t end, Ambiguous rule) {
  const auto mate = [&](std::int64_t row) { return mate_of_flags(batch.mapped.sam_flags[row]); };
  std::int64_t middle = first + 1;
  while (middle < end && mate(middle) == mate(first)) ++middle;
  std::vector<RecordFields> fields = resolve_read(batch, a, first, middle, rule);
  if (mate(first) == 0) return fields;
  if (middle == end) {
    forget_mate(fields);
    return fields;
  }
  std::vector<RecordFields> others = resolve_read(batch, a, middle, end, rule);
  link(batch, a, {&fields, first}, {&others, middle});
  fields.insert(fields.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return fields;
}

}  // namespace wfacli
