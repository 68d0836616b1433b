// Rows of mapped reads: the parts of reads and targets that are aligned, and the fields of their records.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/reverse_complement.hpp"
#include "mapped/mapped.hpp"
#include "mapped/mates.hpp"
#include "mapped/tags.hpp"

namespace wfacli {
namespace {

constexpr std::int64_t kTaskBases = 200'000;  // bases of reads per fill task

}  // namespace

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
  if (!has_suffix) read.name = group_name_;
  if (count == 0 || own->kind == MappingKind::Unmapped) {
    if (count > 0 || options_.keep_unmapped) add_unmapped(read, flags, count > 0 ? own : nullptr);
    return;
  }
  classify_mappings(own, count);
  const bool primary = std::any_of(own, own + count, [](const Mapping& m) { return m.kind == MappingKind::Primary; });
  begin_read(read);
  // Secondary records have no SEQ and QUAL if the read has a primary record.
  set_rooms(own, count, options_.window.span, rooms_);
  for (std::size_t i = 0; i < count; ++i)
    add_row(read, own[i], rooms_[i], !(primary && own[i].kind == MappingKind::Secondary));
  ++counts_.mapped_reads;
  counts_.mappings += static_cast<std::int64_t>(count);
}

// Stores the tags of the read, which all its rows share.
void MappedReader::begin_read(const ReadView& read) {
  tags_.clear();
  const bool all = options_.copy_tags, own = options_.read_group;
  if (all || (options_.copy_group && !own))
    add_tags(read.comment, !all ? TagSelection::GroupOnly : own ? TagSelection::NoGroup : TagSelection::All, tags_);
  has_group_ = has_group(tags_);
  tags_at_ = builder_.extra(tags_);
}

// Adds the tags of a row: those of its mapping, if any, and those of the read.
void MappedReader::push_tags(const Mapping* mapping) {
  std::int64_t at = tags_at_;
  std::size_t size = tags_.size();
  const bool group =
      mapping && options_.whole_reads && !options_.read_group && !has_group_ && !mapping->tags.group.empty();
  if (mapping && (group || !mapping->tags.fields.empty())) {
    const std::string_view parts[] = {mapping->tags.fields.text(), group ? mapping->tags.group : std::string_view(), tags_};
    at = -1, size = 0;
    for (const std::string_view part : parts) {
      if (part.empty()) continue;
      if (size > 0) builder_.extra("\t"), ++size;
      const std::int64_t here = builder_.extra(part);
      if (at < 0) at = here;
      size += part.size();
    }
  }
  columns_.tags.push(at);
  columns_.tags_len.push(static_cast<std::int32_t>(size));
}

// Adds a row's name and, if requested, the sequence and quality of the whole read. Returns the offset of the sequence,
// or -1.
std::int64_t MappedReader::begin_row(const ReadView& read, bool with_bases) {
  builder_.name(read.name);
  if (!with_bases || !options_.whole_reads) return -1;
  const auto added = [&](std::string_view text) { return read.lasts ? std::string_view(nullptr, text.size()) : text; };
  if (read.has_quality) builder_.quality(added(read.quality));
  return builder_.extra(added(read.bases));
}

void MappedReader::add_row(const ReadView& read, const Mapping& m, const Room& room, bool with_bases) {
  const std::int64_t target = reference_.length(m.target);
  const Window w = window_of(m, room, target, options_.window), inner = inner_of(m);
  const auto read_length = static_cast<std::int64_t>(read.bases.size());
  const auto row = static_cast<std::size_t>(builder_.pairs());
  push_tags(&m);
  const std::int64_t text = begin_row(read, with_bases);
  columns_.read_start.push(text);
  const std::int64_t q_beg = m.reverse ? read_length - w.q_end : w.q_beg;
  builder_.append_sequence(read.lasts ? nullptr : read.bases.data() + q_beg, w.q_end - w.q_beg);
  builder_.end_query();
  builder_.name(reference_.name(m.target));
  builder_.append_sequence(nullptr, w.t_end - w.t_beg);
  builder_.end_target();
  PendingRow at_once;
  PendingRow& pending = pool_ || reference_.needs_load() ? pending_.emplace_back() : at_once;
  pending.set_read(read, row, text);
  pending.q_beg = q_beg, pending.reverse = m.reverse;
  pending.target = m.target, pending.t_beg = w.t_beg, pending.t_end = w.t_end;
  if (&pending == &at_once) fill_in(at_once);
  columns_.t_offset.push(w.t_beg);
  columns_.t_total.push(target);
  columns_.clip_begin.push(static_cast<std::int32_t>(w.q_beg));
  columns_.clip_end.push(static_cast<std::int32_t>(m.q_len - w.q_end));
  columns_.first.push(first_);
  std::int32_t flags = m.flags | (m.reverse ? kReverseStrand : 0);
  if (m.kind == MappingKind::Secondary) flags |= kSecondary;
  if (m.kind == MappingKind::Supplementary) flags |= kSupplementary;
  if (m.tags.type == 'I' || m.tags.type == 'i') flags |= kInversion;
  columns_.sam_flags.push(flags);
  columns_.mapq.push(m.mapq);
  for (const std::int64_t place : {inner.q_beg - w.q_beg, inner.q_end - w.q_beg, inner.t_beg - w.t_beg, inner.t_end - w.t_beg})
    columns_.inner.push(static_cast<std::int32_t>(place));
}

void MappedReader::PendingRow::set_read(const ReadView& read, std::size_t number, std::int64_t text_at) {
  row = number;
  read_len = static_cast<std::int64_t>(read.bases.size());
  text = text_at;
  quality = text < 0 || !read.has_quality ? -1 : text - read_len;
  bases = read.lasts ? read.bases.data() : nullptr;
  qualities = read.quality.data();
}

// Copies the read of a row, in part and as a whole.
void MappedReader::copy_read(const PendingRow& u, const BatchBuilder::Filled& pair) {
  const auto copy = [](std::uint8_t* to, const char* from, std::size_t n) {
    if (n) std::memcpy(to, from, n);
  };
  copy(pair.query, u.bases + u.q_beg, pair.query_len);
  if (u.text >= 0) copy(builder_.text(u.text), u.bases, static_cast<std::size_t>(u.read_len));
  if (u.quality >= 0) copy(builder_.text(u.quality), u.qualities, static_cast<std::size_t>(u.read_len));
}

// Completes a row of add_row(): copies of a read that lasts, reverse complement, target bases, flags. Thread-safe for
// different rows.
void MappedReader::fill_in(const PendingRow& u) {
  const BatchBuilder::Filled pair = builder_.pair(u.row);
  const auto read_length = static_cast<std::size_t>(u.read_len);
  if (u.bases) copy_read(u, pair);
  if (u.target < 0) return;
  if (u.reverse) {
    reverse_complement(pair.query, pair.query_len);
    if (u.text >= 0) reverse_complement(builder_.text(u.text), read_length);
    if (u.quality >= 0) reverse(builder_.text(u.quality), read_length);
  }
  reference_.copy(u.target, u.t_beg, u.t_end, pair.target);
  const auto text = [](const std::uint8_t* from, std::size_t n) {
    return std::string_view(reinterpret_cast<const char*>(from), n);
  };
  *pair.flags = symbol_classes(text(pair.query, pair.query_len)) | symbol_classes(text(pair.target, pair.target_len));
}

class MappedReader::FillTask : public ThreadPool::Task {
 public:
  FillTask(MappedReader& reader, const PendingRow* rows, std::size_t count)
      : reader_(reader), rows_(rows), count_(count) {}

 private:
  void work() override {
    for (std::size_t i = 0; i < count_; ++i) reader_.fill_in(rows_[i]);
  }
  MappedReader& reader_;
  const PendingRow* rows_;
  std::size_t count_;
};

void MappedReader::complete() {
  if (reference_.needs_load()) {
    std::vector<Reference::Window> windows;
    for (const PendingRow& u : pending_)
      if (u.target >= 0) windows.push_back({u.target, u.t_beg, u.t_end});
    reference_.load(windows);
  }
  std::vector<std::shared_ptr<FillTask>> tasks;
  const std::size_t count = pending_.size();
  std::size_t first = 0;
  std::int64_t held = 0;
  for (std::size_t i = 0; i < count; ++i) {
    held += pending_[i].read_len;
    if (held < kTaskBases && i + 1 < count) continue;
    tasks.push_back(std::make_shared<FillTask>(*this, pending_.data() + first, i + 1 - first));
    tasks.back()->prepare();
    if (pool_ && i + 1 < count) pool_->add(tasks.back());
    first = i + 1, held = 0;
  }
  for (const auto& task : tasks) task->finish();
  pending_.clear();
  lasting_.clear();
}

}  // namespace wfacli
