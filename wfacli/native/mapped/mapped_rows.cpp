// Rows of mapped reads: the parts of reads and targets that are aligned, and the fields of their records.
#include <algorithm>
#include <iterator>

#include "mapped/mapped.hpp"
#include "mapped/mates.hpp"
#include "mapped/tags.hpp"

namespace wfacli {
namespace {

constexpr std::uint8_t kNoQuality = 0;

std::string_view view(const std::uint8_t* text, std::int32_t count) {
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(count)};
}

// Writes a part of a window as positions in it.
void put_part(const Window& part, const Window& window, std::int32_t* to) {
  const std::int64_t places[] = {part.q_beg - window.q_beg, part.q_end - window.q_beg, part.t_beg - window.t_beg,
                                 part.t_end - window.t_beg};
  std::transform(std::begin(places), std::end(places), to, [](std::int64_t at) { return static_cast<std::int32_t>(at); });
}

}  // namespace

void view_record(const RecordColumns& records, std::size_t at, bool comment, ReadView& read) {
  const RecordLocation& place = records.locations[at];
  read.name = view(records.text_at(place.name), place.name_len);
  read.bases = view(records.bases_at(place.sequence), place.len);
  read.has_quality = place.quality != RecordLocation::kNone;
  read.quality = read.has_quality ? view(records.text_at(place.quality), place.len) : std::string_view();
  const std::int32_t length = place.header_len - place.name_len - 1;
  read.comment = {};
  if (comment && length > 0) read.comment = view(records.text_at(place.name) + place.name_len + 1, length);
}

void RowMaker::begin(const ReadView& read, std::int32_t first) {
  tags_.clear();
  const bool all = options_.copy_tags, own = options_.read_group;
  if (all || (options_.copy_group && !own))
    add_tags(read.comment, !all ? TagSelection::GroupOnly : own ? TagSelection::NoGroup : TagSelection::All, tags_);
  has_group_ = has_group(tags_);
  row_ = {};
  const auto kept = [&](std::string_view text, bool lasts) {
    if (!lasts) return keep(text);
    return KeptText{.lasting = text.data(), .size = static_cast<std::int32_t>(text.size())};
  };
  row_.name = kept(read.name, read.name_lasts);
  row_.bases = kept(read.bases, read.lasts);
  row_.has_quality = read.has_quality;
  if (read.has_quality && options_.whole_reads) row_.quality = kept(read.quality, read.lasts);
  row_.first = first;
}

// Returns a copy of a text.
KeptText RowMaker::keep(std::string_view text) {
  const KeptText kept{.at = static_cast<std::int64_t>(kept_.size()), .size = static_cast<std::int32_t>(text.size())};
  kept_.append(text.data(), text.size());
  return kept;
}

// Returns the tags of a row: those of its mapping, if any, and those of the read.
KeptText RowMaker::tags_of(const Mapping* mapping) {
  const bool group =
      mapping && options_.whole_reads && !options_.read_group && !has_group_ && !mapping->tags.group.empty();
  const std::string_view parts[] = {mapping ? mapping->tags.fields.text() : std::string_view(),
                                    group ? mapping->tags.group : std::string_view(), tags_};
  KeptText tags = keep({});
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (tags.size > 0) tags.size += keep("\t").size;
    tags.size += keep(part).size;
  }
  return tags;
}

MappedRow RowMaker::mapped(const Mapping& m, const Room& room, bool with_bases) {
  const std::int64_t read_length = row_.bases.size, target = reference_.length(m.target);
  const Room whole{0, read_length};
  const Window w = window_of(m, whole, target, options_.window);
  MappedRow row = row_;
  row.tags = tags_of(&m);
  row.whole = with_bases && options_.whole_reads;
  row.reverse = m.reverse;
  row.mapq = m.mapq;
  row.target = m.target;
  row.flags = m.flags | (m.reverse ? kReverseStrand : 0);
  if (m.kind == MappingKind::Secondary) row.flags |= kSecondary;
  if (m.kind == MappingKind::Supplementary) row.flags |= kSupplementary;
  if (m.tags.type == 'I' || m.tags.type == 'i') row.flags |= kInversion;
  row.t_beg = w.t_beg, row.t_end = w.t_end;
  row.q_beg = static_cast<std::int32_t>(m.reverse ? read_length - w.q_end : w.q_beg);
  row.q_len = static_cast<std::int32_t>(w.q_end - w.q_beg);
  row.clip_begin = static_cast<std::int32_t>(w.q_beg);
  row.clip_end = static_cast<std::int32_t>(m.q_len - w.q_end);
  put_part(inner_of(m), w, row.inner);
  put_part(room == whole ? w : window_of(m, room, target, options_.window), w, row.room);
  return row;
}

MappedRow RowMaker::unmapped(std::int32_t flags, const Mapping* mapping) {
  MappedRow row = row_;
  row.tags = tags_of(mapping);
  row.whole = options_.whole_reads;
  row.clip_begin = row.bases.size;
  row.flags = flags | kUnmapped;
  row.mapq = kNoQuality;
  return row;
}

// Removes mappings whose read length differs from this read's, or whose windows are too long.
void MappedReader::drop_faulty(const ReadView& read) {
  const auto read_length = static_cast<std::int64_t>(read.bases.size());
  const auto is_faulty = [&](const Mapping& m) {
    if (m.kind == MappingKind::Unmapped) return false;
    if (m.q_len == read_length) {
      if (reference_.length(m.target) <= INT32_MAX) return false;
      const Window w = window_of(m, Room{0, read_length}, reference_.length(m.target), options_.window);
      if (w.t_end - w.t_beg <= INT32_MAX) return false;
      skip_or_throw(InputFault("the mapping spans " + std::to_string(w.t_end - w.t_beg) + " bases of its target; the maximum is " +
                                   std::to_string(INT32_MAX),
                               m.line, group_name_),
                    1);
      return true;
    }
    skip_or_throw(InputFault("a mapping is of a read of " + std::to_string(m.q_len) + " bases, and the read has " +
                                 std::to_string(read_length),
                             m.line, group_name_),
                  1);
    return true;
  };
  const auto begin = group_.begin() + static_cast<std::ptrdiff_t>(done_);
  const auto end = group_.begin() + static_cast<std::ptrdiff_t>(end_);
  const auto valid_end = std::remove_if(begin, end, is_faulty);
  end_ = done_ + static_cast<std::size_t>(valid_end - begin);
  group_.erase(valid_end, end);
}

// Adds the rows of a read: mappings [done_, end_) of the group.
void MappedReader::add_mappings(ReadView& read) {
  const std::int32_t flags = group_[done_].flags;
  const bool has_suffix = mate_of_flags(flags) == 0;
  drop_faulty(read);
  const std::size_t count = end_ - done_;
  Mapping* const own = group_.data() + done_;
  if (!has_suffix) read.name = group_name_, read.name_lasts = false;
  if (count == 0 || own->kind == MappingKind::Unmapped) {
    if (count > 0 || options_.keep_unmapped) add_unmapped(read, flags, count > 0 ? own : nullptr);
    return;
  }
  add_rows(read, own, count);
}

// Adds the rows of a read, one for each of its mappings, of which there is at least one.
void MappedReader::add_rows(const ReadView& read, Mapping* own, std::size_t count) {
  classify_mappings(own, count);
  const bool primary = std::any_of(own, own + count, [](const Mapping& m) { return m.kind == MappingKind::Primary; });
  maker_.begin(read, first_);
  // Secondary records have no SEQ and QUAL if the read has a primary record.
  set_rooms(own, count, options_.window.span, rooms_);
  for (std::size_t i = 0; i < count; ++i) {
    const MappedRow row = maker_.mapped(own[i], rooms_[i], !(primary && own[i].kind == MappingKind::Secondary));
    batch_.rows.push(row);
    weight_ += row.q_len + (row.t_end - row.t_beg) + BatchBuilder::kPairWeight;
  }
  ++counts_.mapped_reads;
  counts_.mappings += static_cast<std::int64_t>(count);
}

// Adds an unaligned row to the current template, with additional SAM flags. `mapping`: the unmapped record, if there
// is one.
void MappedReader::add_unmapped(const ReadView& read, std::int32_t flags, const Mapping* mapping) {
  maker_.begin(read, first_);
  const MappedRow row = maker_.unmapped(flags, mapping);
  batch_.rows.push(row);
  weight_ += row.bases.size + BatchBuilder::kPairWeight;
}

// Keeps the read group of an unmapped read, if its row will need it.
void MappedReader::note_group(std::string_view name, const Mapping& mapping) {
  if (options_.keep_unmapped && options_.whole_reads && !options_.read_group && !mapping.tags.group.empty())
    groups_.emplace(NameSet::key(name), mapping.tags.group);
}

// Returns an unmapped record of a read with the group that was kept for it, valid until the next call; null if there is none.
const Mapping* MappedReader::noted(std::string_view name) {
  const auto found = groups_.empty() ? groups_.end() : groups_.find(NameSet::key(name));
  if (found == groups_.end()) return nullptr;
  noted_.tags.group = std::move(found->second);
  groups_.erase(found);
  return &noted_;
}

// Adds a read that no mapping names, with its mate if that is buffered.
void MappedReader::add_rest(ReadView& read) {
  first_ = next_row();
  const std::string name(read.name), base(without_mate(name));
  const bool second = mate_of_name(name) == 2;
  std::string other = with_mate(base, second ? 1 : 2);
  if (second && !spill_.has(other)) other = base;
  if (!mates_by_name() || !spill_.has(other)) {
    const bool is_mate = paired_ && (mate_of_name(name) || seen_.has(with_mate(base, 2)));
    if (is_mate) read.name = base, read.name_lasts = false;  // as its mate has it, which is mapped
    return add_unmapped(read, !is_mate ? 0 : kPaired | (second ? kLastMate : kFirstMate), noted(name));
  }
  const std::int32_t flags = kPaired | kMateUnmapped;
  read.name = base, read.name_lasts = false;
  add_unmapped(read, flags | (second ? kLastMate : kFirstMate), noted(with_mate(base, second ? 2 : 1)));
  spill_.take(other, read);
  read.name = base, read.name_lasts = false;
  add_unmapped(read, flags | (second ? kFirstMate : kLastMate), noted(with_mate(base, second ? 1 : 2)));
}

// Processes the reads that are left after the last mapping, which are unmapped. Possible mates are buffered until all
// reads are there.
Next MappedReader::rest() {
  if (options_.in_order && !resumed_) return Next::End;
  ReadView read;
  const bool keep = options_.keep_unmapped, wait = mates_by_name();
  reads_from_ = options_.check_mate_order && options_.mates && rest_from_ == 0 ? mate_order_.next() : rest_from_;
  if (keep && (!wait || reads_end_) && spill_.take_first(read)) {
    add_rest(read);
    return Next::Full;
  }
  if (reads_end_) return Next::End;
  const ParseResult got = next_read(read);
  if (got == ParseResult::NeedInput) return needs_reads();
  if (got == ParseResult::End) {
    reads_end_ = !options_.mates || reads_from_ == 2;
    rest_from_ = 2;
  } else if (keep && wait) {
    spill_.put(read);
  } else if (keep) {
    first_ = next_row();
    add_unmapped(read, 0, noted(read.name));
  }
  return Next::Full;
}

}  // namespace wfacli
