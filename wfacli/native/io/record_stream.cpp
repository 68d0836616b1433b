#include "io/record_stream.hpp"

#include <cstring>

namespace wfacli {
namespace {

constexpr std::int64_t kSome = 1 << 18;  // letters of records that are parsed at once; they and their lines stay in the cache
constexpr std::size_t kSomeRecords = 1 << 13;
constexpr std::size_t kMuch = std::size_t{16} << 20;  // bytes of long records, whose memory is not kept for the next ones

}  // namespace

void RecordStream::read_ahead(std::shared_ptr<Helpers> helpers, int descriptor, std::int64_t position,
                              std::size_t block) {
  file_ = {std::move(helpers), descriptor, position, block};
}

// Parses lines that are there. Item where records came of them, else what is the matter.
Got RecordStream::parse() {
  Got got = Got::Item;
  try {
    while (got == Got::Item && builder_.letters_kept() < kSome && builder_.records() < kSomeRecords)
      got = reader_.next(builder_);
  } catch (const InputFault& fault) {
    builder_.drop_record();
    fault_ = std::make_unique<InputFault>(fault);
  }
  return got;
}

Got RecordStream::more() {
  while (left() == 0) {
    if (records_.letters.capacity() + records_.text.capacity() > kMuch) records_ = RecordColumns(), at_ = 0;
    if (behind_) {
      std::swap(records_, behind_->columns);
      at_ = 0;
      if (behind_->fault) fault_ = std::move(behind_->fault);
      behind_ = nullptr;
      continue;
    }
    if (fault_) throw *fault_;
    const Got got = parse();
    const bool waits = got == Got::NeedInput && !fault_;
    if (waits && !file_.helpers) {
      if (builder_.records() == 0) return got;
    } else if (waits && builder_.records() == 0) {
      next_block();
    } else if (got == Got::End && builder_.records() == 0) {
      return got;
    }
    if (builder_.records() == 0) continue;  // a record may be open, and taking nothing would copy all of it
    builder_.take(records_);
    at_ = 0;
  }
  return Got::Item;
}

void RecordStream::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reader_.lines().prepare(bytes.size()), bytes.data(), bytes.size());
  reader_.lines().commit(bytes.size());
}

// Puts the next block behind what was read.
void RecordStream::next_block() {
  try {
    if (!reader_.mark()) return first_block();
    if (!ahead_)
      ahead_ = std::make_unique<ReadAhead>(file_.helpers, file_.descriptor, file_.position, file_.block, reader_.mark(), keep_);
    ParsedBlock* block = ahead_->next();
    if (!block) return reader_.lines().close();
    bytes_ahead_.fetch_add(static_cast<std::int64_t>(block->reader.lines().held().size()), std::memory_order_relaxed);
    join(*block);
  } catch (const InputFault& fault) {
    builder_.drop_record();
    fault_ = std::make_unique<InputFault>(fault);
  }
}

// Nobody can help before it is known what records begin with.
void RecordStream::first_block() {
  Lines& lines = reader_.lines();
  const std::size_t got = read_at(file_.descriptor, file_.position, lines.prepare(file_.block), file_.block);
  file_.position += static_cast<std::int64_t>(got);
  bytes_ahead_.fetch_add(static_cast<std::int64_t>(got), std::memory_order_relaxed);
  if (got)
    lines.commit(got);
  else
    lines.close();
}

// A helper's records count where what lies between them and the records before is just whole records too. Otherwise the
// helper was wrong about where a record begins, and the block is read as if it had come by itself.
void RecordStream::join(ParsedBlock& block) {
  const std::string_view text = block.reader.lines().held();
  if (!block.parsed) return append(text);
  append(text.substr(0, block.first));
  builder_.refer(false);  // since more lines follow before these records are taken
  while (reader_.next(builder_) == Got::Item) continue;
  builder_.refer(true);
  if (reader_.mark() != block.mark || !reader_.end_before_record()) return append(text.substr(block.first));
  if (builder_.is_open()) builder_.end_record();
  if (block.fault) block.fault->line += reader_.lines().number();
  behind_ = &block;
  if (block.fault) return;
  reader_.lines().skip(0, block.lines);
  append(text.substr(block.rest));
}

}  // namespace wfacli
