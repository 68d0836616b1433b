// Templates of mapped reads: the mappings of each, and the reads that they name.
#include "mapped/mapped.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "mapped/mates.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kAhead = 12;  // reads between a prefetch of the set of names and its use

}  // namespace

MappedReader::MappedReader(const Reference& reference, MappedOptions options)
    : StreamReader(true),
      reference_(reference),
      options_(std::move(options)),
      reads_(keep_options()),
      mates_(keep_options()),
      mate_order_(options_.mates),
      spill_(options_.folder, options_.max_buffered_bytes),
      mappings_(reference, options_.window),
      maker_(reference, options_, batch_.kept) {}

PendingMapped MappedReader::take() {
  PendingMapped taken = std::exchange(batch_, PendingMapped());
  taken.memory = builder_.take_memory();
  taken.options = &options_;
  // The next batch is usually of a similar size.
  batch_.rows.reserve(taken.rows.size() + taken.rows.size() / 16);
  batch_.lone.reserve(taken.lone.size() + taken.lone.size() / 16);
  batch_.kept.reserve(taken.kept.size() + taken.kept.size() / 16);
  weight_ = 0;
  at_place_ = true;
  return taken;
}

void MappedReader::track() {
  reads_.track();
  mates_.track();
  tracked_ = true;
}

std::vector<StreamPlace> MappedReader::places() const {
  const bool inside = group_whole_ || !group_.empty();
  const StreamPlace mapping = {mappings_.place_of_last(), ahead_.line - 1, counts_.mappings};
  const StreamPlace end = {mappings_.end(), 0, counts_.mappings};
  std::vector<StreamPlace> places = {reads_.place(), inside ? StreamPlace{-1, 0, 0} : looked_ahead_ ? mapping : end};
  if (options_.mates) places.push_back(mates_.place());
  return places;
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
    while (weight_ < weight || (group_whole_ && done_ > 0))
      if (const Next next = step(); next != Next::Full) return next;
    return Next::Full;
  } catch (const std::system_error& error) {
    throw InputFault(error.what(), 0, {});
  }
}

// Adds one template with its mappings; returns Full on success.
Next MappedReader::step() {
  if (!group_whole_) {
    if (add_lone()) return Next::Full;
    const ParseResult got = next_group();
    if (got == ParseResult::NeedInput) return Next::NeedTarget;
    if (got == ParseResult::End) return rest();
    group_whole_ = begin_template();
  }
  for (; group_whole_ && done_ < group_.size(); done_ = end_) {
    if (done_ == 0) first_ = next_row();
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
      ++counts_.reported;
      add_mappings(read);
    }
  }
  group_.clear();
  group_whole_ = false;
  return Next::Full;
}

// Adds the usual template: a mapping that is the only one of the next read. Returns false, and changes nothing, if there
// is another one next.
bool MappedReader::add_lone() {
  if (looked_ahead_ || !group_.empty() || mates_by_name() || tracked_ || options_.check_mate_order) return false;
  ParsedMapping* const lone = mappings_.lone();
  if (!lone || mate_of_flags(lone->mapping.flags) || lone->mapping.kind == MappingKind::Unmapped) return false;
  reads_from_ = 0;
  if (reads_.more() != ParseResult::Item) return false;
  // Names are told apart by their keys, as in seen_: their text is in the cache of another core.
  const RecordColumns& records = reads_.records();
  if (reads_.left() > kAhead) seen_.prefetch(records.keys[reads_.at() + kAhead]);
  const RecordLocation& place = records.locations[reads_.at()];
  Mapping& mapping = lone->mapping;
  const bool same = records.keys[reads_.at()] == lone->key && place.name_len == static_cast<std::int32_t>(lone->read.size());
  if (!same || place.len != mapping.q_len || reference_.length(mapping.target) > INT32_MAX || !seen_.add_key(lone->key))
    return false;
  add_lone_row(*lone);
  reads_.taken(1);
  ++counts_.reads;
  ++counts_.reported;
  mappings_.take_lone();
  return true;
}

// Adds the row of the next read, or lets the thread that completes the batch make it: this thread is the only one that
// reads.
void MappedReader::add_lone_row(ParsedMapping& lone) {
  if (!pool_ || !reads_.shares()) {
    ReadView read;
    view_next(read);
    first_ = next_row();
    return add_rows(read, &lone.mapping, 1);
  }
  keep_records();
  if (batch_.mappings.empty() || batch_.mappings.back().get() != mappings_.memory_of_lone())
    batch_.mappings.push_back(mappings_.lend());
  batch_.lone.push({&lone.mapping, &reads_.records(), static_cast<std::uint32_t>(reads_.at()),
                    static_cast<std::uint32_t>(batch_.rows.size())});
  weight_ += lone.weight;
  ++counts_.mapped_reads;
  ++counts_.mappings;
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
    for (const Mapping& m : group_) note_group(mate(m) ? with_mate(group_name_, mate(m)) : group_name_, m);
    counts_.reported += static_cast<std::int64_t>(group_.size());  // one record a mate
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

// Collects the mappings of the next template; returns Item once they are complete.
ParseResult MappedReader::next_group() {
  for (;;) {
    if (looked_ahead_) {
      if (!group_.empty() && ahead_name_ != group_name_) return ParseResult::Item;
      group_name_ = ahead_name_;
      group_.push_back(std::move(ahead_));
      looked_ahead_ = false;
      if (mate_of_flags(group_.back().flags) == 0 && mappings_.next_is_other(group_name_)) return ParseResult::Item;
    }
    if (mappings_end_) return group_.empty() ? ParseResult::End : ParseResult::Item;
    if (fault_ahead_) skip_or_throw(*std::exchange(fault_ahead_, nullptr), 1);
    std::string_view name;
    ParseResult got;
    try {
      got = mappings_.next(ahead_, name, pool_.get());
    } catch (const InputFault& fault) {
      // A group is complete if the faulty line names another read.
      const std::string_view named = mate_of_name(fault.record) ? without_mate(fault.record) : fault.record;
      if (!group_.empty() && !fault.record.empty() && fault.record != group_name_ && named != group_name_) {
        fault_ahead_ = std::make_unique<InputFault>(fault);
        return ParseResult::Item;
      }
      skip_or_throw(fault, 1);
      continue;
    }
    if (got == ParseResult::NeedInput) return got;
    if (got == ParseResult::End) {
      mappings_end_ = true;
      continue;
    }
    const int mate = mate_of_flags(ahead_.flags);
    if (mate == 0 && ahead_.kind == MappingKind::Unmapped && !keeps_place()) {
      note_group(name, ahead_);
      ++counts_.reported;
      continue;
    }
    paired_ = paired_ || mate;
    ahead_name_ = mate && mate_of_name(name) == mate ? without_mate(name) : name;
    looked_ahead_ = true;
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
  const bool seen = seen_.has(name), other_seen = may_lack && seen_.has(other);
  if ((seen && spill_.take(name, read)) || (other_seen && spill_.take(other, read))) return ParseResult::Item;
  if (seen || other_seen) {
    InputFault fault("mappings of a read are in two places of the file: they must follow one another, as they do when the "
                     "file is sorted by names",
                     group_[done_].line, group_name_);
    fault.stream = 1;
    // A mapper writes the mappings of each read once, so two reads may have this name: then identify() throws at the
    // second one. Otherwise the mapper is at fault.
    if (options_.in_order) {
      for (ParseResult got = ParseResult::Item; got != ParseResult::End;)
        if (got = next_in_order(read); got == ParseResult::NeedInput) return got;
    }
    throw fault;
  }
  reads_from_ = options_.mates && mate_of_name(name) == 2 ? 2 : 0;
  for (;;) {
    if (const ParseResult got = next_in_order(read); got != ParseResult::Item) return got;
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

// Takes the next read, from both streams in turn if mates have an order.
ParseResult MappedReader::next_in_order(ReadView& read) {
  if (options_.check_mate_order && options_.mates) reads_from_ = mate_order_.next();
  return next_read(read);
}

// Takes the next read of stream reads_from_.
ParseResult MappedReader::next_read(ReadView& read) {
  RecordStream& reads = reads_of(reads_from_);
  if (const ParseResult got = reads.more(); got != ParseResult::Item) {
    if (got == ParseResult::End && options_.check_mate_order) mate_order_.ended(reads_from_);
    return got;
  }
  if (reads.left() > kAhead) seen_.prefetch(reads.records().keys[reads.at() + kAhead]);
  view_next(read);
  reads.taken(1);
  ++counts_.reads;
  if (tracked_ && reads_from_ == 0) compare_with_last(read.name);
  if (options_.check_mate_order) mate_order_.read(reads_from_, read.name, seen_);
  identify(read);
  return ParseResult::Item;
}

// Sets the view of the next read of stream reads_from_, which is parsed.
void MappedReader::view_next(ReadView& read) {
  const RecordStream& reads = reads_of(reads_from_);
  read.lasts = read.name_lasts = pool_ && reads.shares();
  if (read.lasts) keep_records();
  view_record(reads.records(), reads.at(), options_.has_comments(), read);
}

// Keeps the memory of the next read of stream reads_from_ until the batch is complete.
void MappedReader::keep_records() {
  const RecordStream& reads = reads_of(reads_from_);
  if (batch_.lasting.empty() || batch_.lasting.back().get() != &reads.records()) batch_.lasting.push_back(reads.shared());
}

// Notes whether a read is the mate of the read before it, if a batch was taken between the two.
void MappedReader::compare_with_last(std::string_view name) {
  const std::string_view base = mate_of_name(name) ? without_mate(name) : name;
  if (std::exchange(at_place_, false)) splits_mates_ = base == last_read_;
  last_read_ = base;
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
  read.name_lasts = false;
  if (!seen_.add(read.name)) throw InputFault("more reads have this name than the two of a pair", 0, name);
}

}  // namespace wfacli
