// Unmapped reads.
#include "mapped/mapped.hpp"
#include "mapped/mates.hpp"

namespace wfacli {
namespace {

constexpr std::uint8_t kNoQuality = 0;

}  // namespace

// Adds an unaligned row to the current template, with additional SAM flags. `mapping`: the unmapped record, if there
// is one.
void MappedReader::add_unmapped(const ReadView& read, std::int32_t flags, const Mapping* mapping) {
  begin_read(read);
  push_tags(mapping);
  const auto row = static_cast<std::size_t>(builder_.pairs());
  const std::int64_t text = begin_row(read, true);
  columns_.read_start.push(text);
  if (read.lasts && text >= 0) pending_.emplace_back().set_read(read, row, text);
  builder_.add_weight(static_cast<std::int64_t>(read.bases.size()));
  builder_.end_query();
  builder_.name({});
  builder_.end_target();
  columns_.t_offset.push(0);
  columns_.t_total.push(0);
  columns_.clip_begin.push(static_cast<std::int32_t>(read.bases.size()));
  columns_.clip_end.push(0);
  columns_.first.push(first_);
  columns_.sam_flags.push(flags | kUnmapped);
  columns_.mapq.push(kNoQuality);
  for (int k = 0; k < 4; ++k) columns_.inner.push(0);
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
  first_ = static_cast<std::int32_t>(builder_.pairs());
  const std::string name(read.name), base(without_mate(name));
  const bool second = mate_of_name(name) == 2;
  std::string other = with_mate(base, second ? 1 : 2);
  if (second && !spill_.has(other)) other = base;
  if (!mates_by_name() || !spill_.has(other)) return add_unmapped(read, 0, noted(name));
  const std::int32_t flags = kPaired | kMateUnmapped;
  read.name = base;
  add_unmapped(read, flags | (second ? kLastMate : kFirstMate), noted(with_mate(base, second ? 2 : 1)));
  spill_.take(other, read);
  read.name = base;
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
    first_ = static_cast<std::int32_t>(builder_.pairs());
    add_unmapped(read, 0, noted(read.name));
  }
  return Next::Full;
}

}  // namespace wfacli
