#include "io/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/hashing.hpp"
#include "base/bytes.hpp"
#include "base/symbols.hpp"

namespace wfacli {
namespace {

// True if all n symbols are A, C, G or T, in either case.
bool only_acgt(const std::uint8_t* p, std::size_t n) {
  if (n < 16) {
    for (std::size_t i = 0; i < n; ++i)
      if (kSymbols.symbol_class[p[i]]) return false;
    return true;
  }
  // The low four bits of a, c, g and t (1, 3, 7, 4) are distinct.
  constexpr Bytes16 kByBits = {0, 'a', 0, 'c', 't', 0, 0, 'g', 0, 0, 0, 0, 0, 0, 0, 0};
  return none_of_bytes(p, n, [&](Bytes16 c) {
    c |= 0x20;
    return lookup16(kByBits, c & 15) != c;
  });
}

std::int64_t add_text(Buffer<std::uint8_t>& text, std::string_view value) {
  const std::int64_t at = static_cast<std::int64_t>(text.size());
  std::uint8_t* room = text.extend(value.size());
  if (value.data() && !value.empty()) std::memcpy(room, value.data(), value.size());
  return at;
}

}  // namespace

std::uint8_t symbol_classes(std::string_view symbols) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(symbols.data());
  if (only_acgt(p, symbols.size())) return 0;
  std::uint8_t classes = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) classes |= kSymbols.symbol_class[p[i]];
  return classes;
}

void BaseBuffer::use_external(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> owner) {
  own_ = Buffer<std::uint8_t>();
  external_ = memory;
  room_ = bytes;
  used_ = 0;
  owner_ = std::move(owner);
}

void BaseBuffer::move_to_own() {
  own_.reserve(room_ + room_ / 4);
  own_.append(external_, used_);
  owner_.reset();
}

void RecordParts::begin_record() {
  if (open_) return;
  open_ = true;
  start_ = static_cast<std::int64_t>(bases_.size());
  len_ = 0;
  quality_ = -1;
  classes_ = 0;
}

void RecordParts::name(std::string_view name, std::size_t header) {
  begin_record();
  header_len_ = keep_.comments && header > name.size() ? header : name.size();
  name_ = add_text(text_, {name.data(), header_len_});
  name_len_ = name.size();
}

bool RecordParts::sequence(std::string_view sequence, std::uint8_t& bad) {
  if (keep_.bases) {
    const std::uint8_t classes = symbol_classes(sequence);
    if (classes & kIllegal) {
      for (const char c : sequence) {
        bad = static_cast<std::uint8_t>(c);
        if (kSymbols.symbol_class[bad] & kIllegal) return false;
      }
    }
    classes_ |= classes;
    bases_.append(reinterpret_cast<const std::uint8_t*>(sequence.data()), sequence.size());
  }
  len_ += static_cast<std::int64_t>(sequence.size());
  return true;
}

void RecordParts::append_sequence(const char* sequence, std::int64_t count) {
  std::uint8_t* room = bases_.extend(static_cast<std::size_t>(count));
  if (sequence && count) std::memcpy(room, sequence, static_cast<std::size_t>(count));
  len_ += count;
}

void RecordParts::quality(std::string_view quality) {
  if (keep_.quality) quality_ = add_text(text_, quality);
}

void RecordParts::more_quality(std::string_view quality) {
  if (keep_.quality) add_text(text_, quality);
}

std::int64_t RecordParts::extra(std::string_view text) { return add_text(text_, text); }

void RecordParts::pad_sequence() {
  const std::size_t gap = aligned(bases_.size()) - bases_.size();
  if (gap) std::memset(bases_.extend(gap), 0, gap);
  open_ = false;
}

void RecordParts::drop_open() {
  if (!open_) return;
  open_ = false;
  bases_.shrink(static_cast<std::size_t>(start_));
  text_.resize(static_cast<std::size_t>(name_));
}

bool RecordBuilder::add(const char* lines, std::string_view name, std::size_t header, std::string_view sequence,
                        const char* quality) {
  const std::uint8_t classes = keep_.bases ? symbol_classes(sequence) : 0;
  if (classes & kIllegal) return false;
  const auto at = [&](const char* part) { return static_cast<std::int64_t>(part - lines); };
  c_.lines = reinterpret_cast<const std::uint8_t*>(lines);
  add({at(name.data()), at(sequence.data()), quality && keep_.quality ? at(quality) : RecordLocation::kNone,
       static_cast<std::int32_t>(name.size()), static_cast<std::int32_t>(sequence.size()),
       static_cast<std::int32_t>(header), classes},
      name);
  return true;
}

void RecordBuilder::add(const RecordLocation& record, std::string_view name) {
  c_.locations.push(record);
  total_.add(record);
  c_.sums.push(total_);
  if (keep_.keys) c_.keys.push(NameSet::key(name));
}

void RecordBuilder::end_record() {
  add({~name_, ~start_, quality_ < 0 ? RecordLocation::kNone : ~quality_, static_cast<std::int32_t>(name_len_),
       static_cast<std::int32_t>(len_), static_cast<std::int32_t>(header_len_), classes_},
      current_name());
  open_ = false;
}

void RecordBuilder::take(RecordColumns& columns) {
  Buffer<std::uint8_t> bases = std::move(bases_.own()), text = std::move(text_);
  std::swap(columns, c_);
  c_.clear();
  bases_.own() = std::move(c_.bases);
  text_ = std::move(c_.text);
  bases_.own().clear();
  text_.clear();
  total_ = {};
  if (open_) {
    const auto ends = static_cast<std::size_t>(start_), names = static_cast<std::size_t>(name_);
    bases_.append(bases.data() + ends, bases.size() - ends);
    text_.append(text.data() + names, text.size() - names);
    if (quality_ >= 0) quality_ -= name_;
    start_ = name_ = 0;
  }
  columns.bases = std::move(bases);
  columns.text = std::move(text);
}

void BatchBuilder::use_external(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> owner) {
  if (open_ || !c_.q_len.empty()) throw std::logic_error("memory is lent to a batch before it begins");
  bases_.use_external(memory, bytes, std::move(owner));
}

void BatchBuilder::reserve(std::int64_t pairs, std::int64_t bases) {
  const auto n = static_cast<std::size_t>(pairs);
  bases_.reserve(static_cast<std::size_t>(bases) + 2 * n * kAlign + kOverread);
  reserve_rows(n);
}

void BatchBuilder::reserve_rows(std::size_t rows) {
  for (auto* column : {&c_.q_start, &c_.t_start, &c_.q_name, &c_.t_name, &c_.qual}) column->reserve(rows);
  for (auto* column : {&c_.q_len, &c_.t_len, &c_.q_name_len, &c_.t_name_len}) column->reserve(rows);
  c_.flags.reserve(rows);
}

void BatchBuilder::end_sequence(Buffer<std::int64_t>& start, Buffer<std::int32_t>& len) {
  pad_sequence();
  start.push(start_);
  len.push(static_cast<std::int32_t>(len_));
  weight_ += len_;
  pair_classes_ |= classes_;
}

void BatchBuilder::end_query() {
  end_sequence(c_.q_start, c_.q_len);
  c_.q_name.push(name_);
  c_.q_name_len.push(static_cast<std::int32_t>(name_len_));
  c_.qual.push(quality_);
}

void BatchBuilder::end_target() {
  end_sequence(c_.t_start, c_.t_len);
  c_.t_name.push(name_);
  c_.t_name_len.push(static_cast<std::int32_t>(name_len_));
  c_.flags.push(pair_classes_);
  pair_classes_ = 0;
}

namespace {

// Columns of one file's records, from the first row on; `quality` is null if qualities are not wanted.
struct RecordRows {
  std::int64_t *start, *name, *quality;
  std::int32_t *len, *name_len;
};

// Copies records behind the offsets `at` and `text_at`, which move on.
void copy_records(const RecordLocation* records, const RecordColumns& from, std::size_t count, const RecordRows& to,
                  bool keep_bases, std::uint8_t* bases, std::uint8_t* text, std::size_t& at, std::size_t& text_at) {
  const auto add = [&](const std::uint8_t* bytes, std::int32_t n) {
    std::memcpy(text + text_at, bytes, static_cast<std::size_t>(n));
    text_at += static_cast<std::size_t>(n);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const RecordLocation& r = records[i];
    to.start[i] = static_cast<std::int64_t>(at), to.len[i] = r.len;
    to.name[i] = static_cast<std::int64_t>(text_at), to.name_len[i] = r.name_len;
    if (keep_bases && r.len) {
      const std::size_t room = aligned(static_cast<std::size_t>(r.len));
      std::memset(bases + at + room - kAlign, 0, kAlign);
      std::memcpy(bases + at, from.bases_at(r.sequence), static_cast<std::size_t>(r.len));
      at += room;
    }
    if (r.name_len) add(from.text_at(r.name), r.name_len);
    if (!to.quality) continue;
    to.quality[i] = r.quality == RecordLocation::kNone ? -1 : static_cast<std::int64_t>(text_at);
    if (to.quality[i] >= 0 && r.len) add(from.text_at(r.quality), r.len);
  }
}

}  // namespace

void PairCopy::copy_to(BatchColumns& c, std::uint8_t* bases, std::uint8_t* text) const {
  std::size_t at = bases_at, text_to = text_at;
  const RecordLocation* of_targets = targets->locations.data() + target;
  if (queries) {
    const RecordLocation* of_queries = queries->locations.data() + query;
    copy_records(of_queries, *queries, count,
                 {c.q_start.data() + row, c.q_name.data() + row, c.qual.data() + row, c.q_len.data() + row,
                  c.q_name_len.data() + row},
                 keep_bases, bases, text, at, text_to);
    for (std::size_t i = 0; i < count; ++i) c.flags[row + i] = of_queries[i].flags | of_targets[i].flags;
  } else {
    for (auto* column : {&c.q_start, &c.q_name}) std::fill_n(column->data() + row, count, 0);
    for (auto* column : {&c.q_len, &c.q_name_len}) std::fill_n(column->data() + row, count, 0);
    std::fill_n(c.qual.data() + row, count, -1);
    for (std::size_t i = 0; i < count; ++i) c.flags[row + i] = of_targets[i].flags;
  }
  copy_records(of_targets, *targets, count,
               {c.t_start.data() + row, c.t_name.data() + row, nullptr, c.t_len.data() + row, c.t_name_len.data() + row},
               keep_bases, bases, text, at, text_to);
}

void BatchBuilder::add(PairCopy copy) {
  RecordBytes bytes = copy.targets->bytes_of(copy.target, copy.count);
  if (copy.queries) {
    const RecordBytes more = copy.queries->bytes_of(copy.query, copy.count);
    bytes.bases += more.bases, bytes.text += more.text;
  }
  copy.row = c_.t_len.size(), copy.bases_at = bases_.size(), copy.text_at = text_.size(), copy.keep_bases = keep_.bases;
  for (auto* column : {&c_.q_start, &c_.t_start, &c_.q_name, &c_.t_name, &c_.qual}) column->extend(copy.count);
  for (auto* column : {&c_.q_len, &c_.t_len, &c_.q_name_len, &c_.t_name_len}) column->extend(copy.count);
  c_.flags.extend(copy.count);
  bases_.extend(keep_.bases ? static_cast<std::size_t>(bytes.bases) : 0);
  text_.extend(static_cast<std::size_t>(bytes.text));
  const bool owned = copy.targets.use_count() && (!copy.queries || copy.queries.use_count());
  if (!pool_ || !owned) return copy.copy_to(c_, bases_.data(), text_.data());
  copies_.push_back(std::move(copy));
  if (copies_.size() >= kMaxCopies) copy_all();
}

void BatchBuilder::copy_all() {
  if (copies_.empty()) return;
  pool_->for_each(static_cast<int>(copies_.size()), [&](int i) {
    PairCopy& copy = copies_[static_cast<std::size_t>(i)];
    copy.copy_to(c_, bases_.data(), text_.data());
    copy = {};  // so that the memory of the records is free at once
  });
  copies_.clear();
}

std::size_t BatchBuilder::add_pairs(std::shared_ptr<const RecordColumns> queries, std::size_t q,
                                    std::shared_ptr<const RecordColumns> targets, std::size_t t, std::size_t max_pairs,
                                    std::int64_t weight) {
  // The first number of pairs that fills the batch, by binary search.
  const std::int64_t begun = this->weight();
  const auto weight_with = [&](std::size_t count) {
    const std::int64_t symbols = targets->bytes_of(t, count).symbols + (queries ? queries->bytes_of(q, count).symbols : 0);
    return begun + kPairWeight * static_cast<std::int64_t>(count) + symbols;
  };
  std::size_t count = 0;
  for (std::size_t most = max_pairs; count < most;) {
    const std::size_t middle = (count + most) / 2;
    if (weight_with(middle) < weight)
      count = middle + 1;
    else
      most = middle;
  }
  const std::int64_t total_weight = weight_with(count);
  add({std::move(queries), std::move(targets), q, t, count});
  weight_ = total_weight - kPairWeight * pairs();
  return count;
}

BatchColumns PendingPairs::complete() {
  for (PairCopy& copy : copies) {
    copy.copy_to(columns, columns.bases.data(), columns.text.data());
    copy = {};  // so that the memory of the records is free at once
  }
  return std::move(columns);
}

PendingPairs BatchBuilder::take() {
  std::memset(bases_.extend(kOverread), 0, kOverread);
  BatchColumns taken = std::move(c_);
  taken.bases = std::move(bases_);
  taken.text = std::move(text_);
  const std::size_t n = taken.t_len.size();
  if (taken.q_len.size() < n) throw std::logic_error("a target without its query in a batch");
  taken.q_start.resize(n);
  taken.q_len.resize(n);
  taken.q_name.resize(n);
  taken.q_name_len.resize(n);
  taken.qual.resize(n);
  c_ = BatchColumns();
  bases_ = BaseBuffer();
  text_ = Buffer<std::uint8_t>();
  // The next batch is usually of a similar size. Reserving 1/16 more avoids growth by a factor of 1.5.
  if (!taken.bases.owner()) bases_.reserve(taken.bases.size() + taken.bases.size() / 16);
  text_.reserve(taken.text.size() + taken.text.size() / 16);
  reserve_rows(n + n / 16);
  weight_ = 0;
  open_ = false;
  return {std::move(taken), std::exchange(copies_, {})};
}

}  // namespace wfacli
