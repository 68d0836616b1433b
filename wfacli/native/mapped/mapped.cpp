#include "mapped/mapped.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "mapped/mates.hpp"
#include "mapped/tags.hpp"
#include "base/reverse_complement.hpp"

namespace wfacli {
namespace {

constexpr std::int64_t kTaskBases = 200'000;  // bases of reads per fill task

std::string_view view(const std::uint8_t* text, std::int32_t count) {
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(count)};
}

}  // namespace

MappedReader::MappedReader(const Reference& reference, MappedOptions options)
    : StreamReader(true),
      reference_(reference),
      options_(std::move(options)),
      reads_(keep_options()),
      mates_(keep_options()),
      mate_order_(options_.mates),
      spill_(options_.folder, options_.max_buffered_bytes),
      mappings_(reference) {}

MappedBatch MappedReader::take() {
  MappedBatch taken{builder_.take(), std::move(columns_)};
  columns_ = MappedColumns();
  return taken;
}

void MappedReader::skip_or_throw(const InputFault& fault, std::int64_t mappings) {
  if (!options_.skip || fault.fatal) {
    InputFault thrown = fault;
    thrown.stream = 1;
    throw thrown;
  }
  if (counts_.skipped == 0) {
    counts_.first_skipped = (fault.record.empty() ? "" : fault.record + ": ") + fault.what();
    counts_.first_skipped_line = fault.line;
  }
  counts_.skipped += mappings;
}

Next MappedReader::fill_from_lines(std::int64_t weight) {
  try {
    // All rows of a template are in one batch.
    while (builder_.weight() < weight || (group_whole_ && done_ > 0))
      if (const Next next = step(); next != Next::Full) return next;
    return Next::Full;
  } catch (const std::system_error& error) {
    throw InputFault(error.what(), 0, {});
  }
}

// Adds one template with its mappings; returns Full on success.
Next MappedReader::step() {
  if (!group_whole_) {
    const ParseResult got = next_group();
    if (got == ParseResult::NeedInput) return Next::NeedTarget;
    if (got == ParseResult::End) return rest();
    group_whole_ = begin_template();
  }
  for (; group_whole_ && done_ < group_.size(); done_ = end_) {
    if (done_ == 0) first_ = static_cast<std::int32_t>(builder_.pairs());
    const int mate = mate_of_flags(group_[done_].flags);
    for (end_ = done_; end_ < group_.size() && mate_of_flags(group_[end_].flags) == mate;) ++end_;
    ReadView read;
    const ParseResult got = find_read(read);
    if (got == ParseResult::NeedInput) return needs_reads();
    if (std::exchange(passed_over_, false)) return Next::Full;
    if (got == ParseResult::End) {
      constexpr const char* kWhich[] = {"", " (the first of a pair)", " (the second of a pair: mates are read one behind "
                                        "the other, from BAM, or by --mates)"};
      skip_or_throw(InputFault(std::string("a mapping's read is not among the reads") + kWhich[mate], group_[done_].line,
                               group_name_),
                    static_cast<std::int64_t>(end_ - done_));
    } else {
      add_mappings(read);
    }
  }
  group_.clear();
  group_whole_ = false;
  return Next::Full;
}

// Sorts the group by mate and removes unmapped records of mates that have mappings. Returns false if nothing is left
// to add at this position.
bool MappedReader::begin_template() {
  const auto mate = [](const Mapping& m) { return mate_of_flags(m.flags); };
  const auto unmapped = [](const Mapping& m) { return m.kind == MappingKind::Unmapped; };
  done_ = 0;
  if (group_.size() == 1 && !unmapped(group_[0])) return true;
  // Unmapped records of a mate are sorted after its mappings, if any.
  std::stable_sort(group_.begin(), group_.end(), [&](const Mapping& a, const Mapping& b) {
    return mate(a) != mate(b) ? mate(a) < mate(b) : unmapped(a) < unmapped(b);
  });
  const auto again = [&](const Mapping& before, const Mapping& m) { return unmapped(m) && mate(before) == mate(m); };
  group_.erase(std::unique(group_.begin(), group_.end(), again), group_.end());
  if (!keeps_place() && std::all_of(group_.begin(), group_.end(), unmapped)) {
    group_.clear();
    return false;
  }
  if (mate(group_.front()) == 0 && mate(group_.back()) != 0) {
    skip_or_throw(InputFault("is one of a pair (flag 1) in some of its mappings, and not in others", group_[0].line,
                             group_name_),
                  static_cast<std::int64_t>(group_.size()));
    group_.clear();
    return false;
  }
  return true;
}

// Prefetches the memory that this thread will need for the next read.
void MappedReader::prefetch(const Mapping& mapping, std::string_view read) {
  if (!pool_) reference_.prefetch(mapping.target, mapping.t_beg, mapping.t_end);
  seen_.prefetch(read);
}

// Collects the mappings of the next template; returns Item once they are complete.
ParseResult MappedReader::next_group() {
  for (;;) {
    if (looked_ahead_) {
      if (!group_.empty() && ahead_name_ != group_name_) return ParseResult::Item;
      group_name_ = ahead_name_;
      group_.push_back(std::move(ahead_));
      looked_ahead_ = false;
    }
    if (mappings_end_) return group_.empty() ? ParseResult::End : ParseResult::Item;
    std::string_view name;
    ParseResult got;
    try {
      got = mappings_.next(ahead_, name, pool_.get());
    } catch (const InputFault& fault) {
      skip_or_throw(fault, 1);
      continue;
    }
    if (got == ParseResult::NeedInput) return got;
    if (got == ParseResult::End) {
      mappings_end_ = true;
      continue;
    }
    const int mate = mate_of_flags(ahead_.flags);
    if (mate == 0 && ahead_.kind == MappingKind::Unmapped && !keeps_place()) continue;
    paired_ = paired_ || mate;
    ahead_name_ = mate && mate_of_name(name) == mate ? without_mate(name) : name;
    looked_ahead_ = true;
    if (ahead_.kind != MappingKind::Unmapped) prefetch(ahead_, ahead_name_);
  }
}

// Finds the read of the group's next mappings, or adds an unmapped read before it as a row (passed_over_). Returns End
// if the read does not exist.
ParseResult MappedReader::find_read(ReadView& read) {
  const int mate = mate_of_flags(group_[done_].flags);
  const std::string suffixed = mate ? with_mate(group_name_, mate) : std::string();
  const std::string& name = mate ? suffixed : group_name_;
  // The name of a first mate may lack /1.
  const bool may_lack = mates_by_name() && mate_of_name(name) == 1;
  const std::string other = may_lack ? std::string(without_mate(name)) : std::string();
  if (spill_.take(name, read) || (may_lack && spill_.take(other, read))) return ParseResult::Item;
  if (seen_.has(name) || (may_lack && seen_.has(other))) {
    InputFault fault("mappings of a read are in two places of the file: they must follow one another, as they do when the "
                     "file is sorted by names",
                     group_[done_].line, group_name_);
    fault.stream = 1;
    throw fault;
  }
  reads_from_ = options_.mates && mate_of_name(name) == 2 ? 2 : 0;
  for (;;) {
    if (options_.check_mate_order && options_.mates) reads_from_ = mate_order_.next();
    if (const ParseResult got = next_read(read); got != ParseResult::Item) return got;
    if (read.name == name || (may_lack && read.name == other)) return ParseResult::Item;
    if (!skips_unmapped()) {
      spill_.put(read);
    } else if (options_.keep_unmapped) {
      add_unmapped(read, 0);
      passed_over_ = true;
      return ParseResult::Item;
    }
  }
}

// Takes the next read of stream reads_from_.
ParseResult MappedReader::next_read(ReadView& read) {
  RecordStream& reads = reads_of(reads_from_);
  if (const ParseResult got = reads.more(); got != ParseResult::Item) {
    if (got == ParseResult::End && options_.check_mate_order) mate_order_.ended(reads_from_);
    return got;
  }
  const RecordColumns& records = reads.records();
  const RecordLocation& place = records.locations[reads.at()];
  reads.taken(1);
  read.name = view(records.text_at(place.name), place.name_len);
  read.bases = view(records.bases_at(place.sequence), place.len);
  read.has_quality = place.quality != RecordLocation::kNone;
  read.quality = read.has_quality ? view(records.text_at(place.quality), place.len) : std::string_view();
  if (keep_options().comments && place.header_len > place.name_len + 1) {
    const std::int32_t comment = place.header_len - place.name_len - 1;
    read.comment = view(records.text_at(place.name) + place.name_len + 1, comment);
  } else {
    read.comment = {};
  }
  ++counts_.reads;
  if (options_.check_mate_order) mate_order_.read(reads_from_, read.name, seen_);
  identify(read);
  return ParseResult::Item;
}

// Appends /2 to the names of second mates that lack it, and checks that names are unique.
void MappedReader::identify(ReadView& read) {
  const std::string_view name = read.name;
  const bool has_suffix = mate_of_name(name) != 0;
  if (reads_from_ == 0 || has_suffix) {
    if (seen_.add(name)) return;
    if (!paired_ || has_suffix || options_.mates)
      throw InputFault("two reads have this name, so that mappings do not say which they mean (of mates SAM and BAM do, by "
                       "flag 1)",
                       0, name);
  }
  read.name = identity_ = with_mate(name, 2);
  if (!seen_.add(read.name)) throw InputFault("more reads have this name than the two of a pair", 0, name);
}

// Removes mappings whose read length differs from this read's, or whose windows are too long.
void MappedReader::drop_faulty(const ReadView& read) {
  const auto read_length = static_cast<std::int64_t>(read.bases.size());
  const auto is_faulty = [&](const Mapping& m) {
    if (m.kind == MappingKind::Unmapped) return false;
    if (m.q_len == read_length) {
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
    row_tags_ = mapping->tags.fields;
    const auto add = [&](const std::string& more) {
      if (!row_tags_.empty() && !more.empty()) row_tags_ += '\t';
      row_tags_ += more;
    };
    if (group) add(mapping->tags.group);
    add(tags_);
    at = builder_.extra(row_tags_);
    size = row_tags_.size();
  }
  columns_.tags.push(at);
  columns_.tags_len.push(static_cast<std::int32_t>(size));
}

// Adds a row's name and, if requested, the sequence and quality of the whole read. Returns the offset of the sequence,
// or -1.
std::int64_t MappedReader::begin_row(const ReadView& read, bool with_bases) {
  builder_.name(read.name);
  if (!with_bases || !options_.whole_reads) return -1;
  if (read.has_quality) builder_.quality(read.quality);
  return builder_.extra(read.bases);
}

void MappedReader::add_row(const ReadView& read, const Mapping& m, const Room& room, bool with_bases) {
  const std::int64_t target = reference_.length(m.target);
  const Window w = window_of(m, room, target, options_.window), inner = inner_of(m);
  const auto read_length = static_cast<std::int64_t>(read.bases.size());
  const auto row = static_cast<std::size_t>(builder_.pairs());
  push_tags(&m);
  const std::int64_t text = begin_row(read, with_bases);
  columns_.read_start.push(text);
  builder_.append_sequence(read.bases.data() + (m.reverse ? read_length - w.q_end : w.q_beg), w.q_end - w.q_beg);
  builder_.end_query();
  builder_.name(reference_.name(m.target));
  builder_.append_sequence(nullptr, w.t_end - w.t_beg);
  builder_.end_target();
  const PendingRow pending{row, m.target, w.t_beg, w.t_end, text,
                            text < 0 || !read.has_quality ? -1 : text - read_length, read_length, m.reverse};
  if (pool_ || reference_.needs_load())
    pending_.push_back(pending);
  else
    fill_in(pending);
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

// Completes a row of add_row(): reverse complement, target bases, flags. Thread-safe for different rows.
void MappedReader::fill_in(const PendingRow& u) {
  const BatchBuilder::Filled pair = builder_.pair(u.row);
  const auto read_length = static_cast<std::size_t>(u.read_len);
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
    for (const PendingRow& u : pending_) windows.push_back({u.target, u.t_beg, u.t_end});
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
}

}  // namespace wfacli
