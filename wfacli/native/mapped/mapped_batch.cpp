#include "mapped/mapped_batch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/reverse_complement.hpp"
#include "mapped/mates.hpp"
#include "mapped/tags.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kAhead = 4;  // rows between a prefetch of the target and its use
constexpr std::uint8_t kNoQuality = 0;

std::string_view view(const std::uint8_t* text, std::int32_t count) {
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(count)};
}

// Sizes in bytes of a row's parts.
std::size_t bases_of(const MappedRow& row) {
  return aligned(static_cast<std::size_t>(row.q_len)) + aligned(static_cast<std::size_t>(row.t_end - row.t_beg));
}

std::size_t text_of(const MappedRow& row, const Reference& reference) {
  const std::size_t target = row.target < 0 ? 0 : reference.name(row.target).size();
  const std::int64_t whole = row.whole ? std::int64_t{row.bases.size} * (1 + row.has_quality) : 0;
  return target + static_cast<std::size_t>(row.name.size + row.tags.size + whole);
}

// Copies rows into the columns of a batch.
class RowCopier {
 public:
  RowCopier(const PendingMapped& from, const Reference& reference, MappedBatch& to)
      : kept_(from.kept.data()), reference_(reference), c_(to.pairs), m_(to.mapped) {
    const std::size_t n = from.rows.size();
    std::size_t bases = 0, text = 0;
    for (const MappedRow *row = from.rows.data(), *end = row + n; row < end; ++row)
      bases += bases_of(*row), text += text_of(*row, reference);
    for (auto* column : {&c_.q_start, &c_.t_start, &c_.q_name, &c_.t_name, &c_.qual, &m_.t_offset, &m_.t_total,
                         &m_.read_start, &m_.tags})
      column->resize(n);
    for (auto* column : {&c_.q_len, &c_.t_len, &c_.q_name_len, &c_.t_name_len, &m_.clip_begin, &m_.clip_end, &m_.first,
                         &m_.sam_flags, &m_.tags_len})
      column->resize(n);
    for (auto* column : {&c_.flags, &m_.mapq}) column->resize(n);
    m_.inner.resize(4 * n);
    c_.bases.extend(bases + kOverread);
    std::memset(c_.bases.data() + bases, 0, kOverread);
    c_.text.resize(text);
  }

  void copy(const MappedRow& row, std::size_t i) {
    const std::uint8_t classes = copy_query(row, i) | copy_target(row, i);
    c_.flags[i] = classes;
    c_.q_name_len[i] = row.name.size;
    c_.q_name[i] = add(row.name);
    m_.tags_len[i] = row.tags.size;
    m_.tags[i] = add(row.tags);
    c_.qual[i] = m_.read_start[i] = -1;
    if (row.whole) copy_read(row, i);
    m_.clip_begin[i] = row.clip_begin;
    m_.clip_end[i] = row.clip_end;
    m_.first[i] = row.first;
    m_.sam_flags[i] = row.flags;
    m_.mapq[i] = row.mapq;
    std::copy_n(row.inner, 4, m_.inner.data() + 4 * i);
  }

 private:
  const char* text(const KeptText& kept) const { return kept.lasting ? kept.lasting : kept_ + kept.at; }

  std::int64_t add(const KeptText& kept) { return add(text(kept), static_cast<std::size_t>(kept.size)); }
  std::int64_t add(const char* text, std::size_t size) {
    if (size) std::memcpy(c_.text.data() + text_at_, text, size);
    return static_cast<std::int64_t>(std::exchange(text_at_, text_at_ + size));
  }

  // Begins a sequence with room for `size` bases, and zeros up to the next one.
  std::uint8_t* begin(std::size_t size) {
    std::uint8_t* to = c_.bases.data() + bases_at_;
    const std::size_t room = aligned(size);
    std::memset(to + size, 0, room - size);
    bases_at_ += room;
    return to;
  }

  static std::uint8_t classes(const std::uint8_t* bases, std::size_t size) {
    return symbol_classes({reinterpret_cast<const char*>(bases), size});
  }

  std::uint8_t copy_query(const MappedRow& row, std::size_t i) {
    const auto size = static_cast<std::size_t>(row.q_len);
    c_.q_start[i] = static_cast<std::int64_t>(bases_at_);
    c_.q_len[i] = row.q_len;
    std::uint8_t* to = begin(size);
    if (size) std::memcpy(to, text(row.bases) + row.q_beg, size);
    if (row.reverse) reverse_complement(to, size);
    return classes(to, size);
  }

  std::uint8_t copy_target(const MappedRow& row, std::size_t i) {
    const auto size = static_cast<std::size_t>(row.t_end - row.t_beg);
    const bool mapped = row.target >= 0;
    c_.t_start[i] = static_cast<std::int64_t>(bases_at_);
    c_.t_len[i] = static_cast<std::int32_t>(size);
    m_.t_offset[i] = row.t_beg;
    m_.t_total[i] = mapped ? reference_.length(row.target) : 0;
    const std::string_view name = mapped ? std::string_view(reference_.name(row.target)) : std::string_view();
    c_.t_name_len[i] = static_cast<std::int32_t>(name.size());
    c_.t_name[i] = add(name.data(), name.size());
    std::uint8_t* to = begin(size);
    if (mapped) reference_.copy(row.target, row.t_beg, row.t_end, to);
    return classes(to, size);
  }

  // Copies the whole read and its quality, on the aligned strand.
  void copy_read(const MappedRow& row, std::size_t i) {
    const auto size = static_cast<std::size_t>(row.bases.size);
    m_.read_start[i] = add(row.bases);
    if (row.reverse) reverse_complement(c_.text.data() + m_.read_start[i], size);
    if (!row.has_quality) return;
    c_.qual[i] = add(row.quality);
    if (row.reverse) reverse(c_.text.data() + c_.qual[i], size);
  }

  const char* kept_;
  const Reference& reference_;
  BatchColumns& c_;
  MappedColumns& m_;
  std::size_t bases_at_ = 0, text_at_ = 0;
};

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
  const Window w = window_of(m, room, reference_.length(m.target), options_.window), inner = inner_of(m);
  const std::int64_t read_length = row_.bases.size;
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
  const std::int64_t places[] = {inner.q_beg - w.q_beg, inner.q_end - w.q_beg, inner.t_beg - w.t_beg, inner.t_end - w.t_beg};
  std::transform(std::begin(places), std::end(places), row.inner, [](std::int64_t at) { return static_cast<std::int32_t>(at); });
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

// Makes the rows of lone reads, so that `rows` are all of the batch.
void PendingMapped::make_rows(const Reference& reference) {
  if (lone.empty()) return;
  Buffer<MappedRow> all;
  all.reserve(size());
  RowMaker maker(reference, *options, kept);
  std::size_t others = 0;
  const auto add_others = [&](std::size_t end) {
    for (; others < end; ++others) all.push(rows[others]);
  };
  ReadView read;
  read.lasts = read.name_lasts = true;
  for (const LoneRead* one = lone.data(); one < lone.data() + lone.size(); ++one) {
    add_others(one->before);
    view_record(*one->records, one->at, options->has_comments(), read);
    classify_mappings(one->mapping, 1);
    maker.begin(read, static_cast<std::int32_t>(all.size()));
    all.push(maker.mapped(*one->mapping, Room{0, one->mapping->q_len}, true));
  }
  add_others(rows.size());
  rows = std::move(all);
  lone.clear();
  mappings.clear();
}

MappedBatch PendingMapped::complete(const Reference& reference) {
  make_rows(reference);
  const std::size_t n = rows.size();
  if (reference.needs_load()) {
    std::vector<Reference::Window> windows;
    for (std::size_t i = 0; i < n; ++i)
      if (rows[i].target >= 0) windows.push_back({rows[i].target, rows[i].t_beg, rows[i].t_end});
    reference.load(windows);
  }
  MappedBatch batch;
  batch.pairs.bases = std::move(memory);
  RowCopier copier(*this, reference, batch);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n && rows[i + kAhead].target >= 0)
      reference.prefetch(rows[i + kAhead].target, rows[i + kAhead].t_beg, rows[i + kAhead].t_end);
    copier.copy(rows[i], i);
  }
  lasting.clear();
  return batch;
}

}  // namespace wfacli
