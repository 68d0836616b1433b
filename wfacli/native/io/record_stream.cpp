#include "io/record_stream.hpp"

#include <cstring>

namespace wfacli {
namespace {

constexpr std::int64_t kSome = 1 << 18;  // bases parsed at a time, so that records and lines stay in the CPU cache
constexpr std::size_t kSomeRecords = 1 << 13;
constexpr std::size_t kMuch = std::size_t{16} << 20;  // bytes of copied records above which memory is not reused

}  // namespace

void RecordStream::read_ahead(std::shared_ptr<ThreadPool> pool, int descriptor, std::int64_t position,
                              std::int64_t end, std::size_t block) {
  file_ = {std::move(pool), descriptor, position, end, block};
}

StreamPlace RecordStream::place() const {
  const bool behind = behind_ && !behind_->starts.empty();
  const RecordStart start = left() > 0           ? starts_[at_]
                            : !built_.empty()    ? built_[0]
                            : behind             ? behind_->starts[0]
                            : builder_.is_open() ? open_
                                                 : next_start();
  return {start.offset, start.lines, taken_};
}

// Parses one record, and keeps its start.
ParseResult RecordStream::next_record() {
  if (tracked_ && !builder_.is_open()) open_ = next_start();
  const ParseResult got = reader_.next(builder_);
  if (tracked_ && got == ParseResult::Item) built_.push_back(open_);
  return got;
}

// Parses buffered lines. Returns Item unless parsing stopped for lack of input or at the end of the stream.
ParseResult RecordStream::parse() {
  ParseResult got = ParseResult::Item;
  try {
    while (got == ParseResult::Item && builder_.bases_stored() < kSome && builder_.records() < kSomeRecords)
      got = next_record();
  } catch (const InputFault& fault) {
    builder_.drop_record();
    fault_ = std::make_unique<InputFault>(fault);
  }
  return got;
}

// Forgets the records, which are all taken.
void RecordStream::release() {
  block_.reset();
  records_.clear();
  if (records_.bases.capacity() + records_.text.capacity() > kMuch) records_ = RecordColumns();
  at_ = 0;
}

ParseResult RecordStream::more() {
  while (left() == 0) {
    release();
    if (behind_) {
      block_ = std::move(behind_);
      std::swap(starts_, block_->starts);
      if (block_->fault) fault_ = std::move(block_->fault);
      continue;
    }
    if (fault_) throw *fault_;
    const ParseResult got = parse();
    const bool waits = got == ParseResult::NeedInput && !fault_;
    if (waits && !file_.pool) {
      if (builder_.records() == 0) return got;
    } else if (waits && builder_.records() == 0) {
      next_block();
    } else if (got == ParseResult::End && builder_.records() == 0) {
      return got;
    }
    if (builder_.records() == 0) continue;  // take() would only copy the open record, if any
    builder_.take(records_);
    std::swap(starts_, built_);
    built_.clear();
  }
  return ParseResult::Item;
}

void RecordStream::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reader_.lines().prepare(bytes.size()), bytes.data(), bytes.size());
  reader_.lines().commit(bytes.size());
}

// Appends the next block to what was read.
void RecordStream::next_block() {
  try {
    if (!reader_.mark()) return first_block();
    if (!ahead_)
      ahead_ = std::make_unique<ReadAhead>(file_.pool, file_.descriptor, file_.position, file_.end, file_.block,
                                           reader_.mark(), keep_, tracked_);
    std::shared_ptr<ParsedBlock> block = ahead_->next();
    if (!block) return reader_.lines().close();
    bytes_read_ahead_.fetch_add(static_cast<std::int64_t>(block->reader.lines().buffered().size()),
                                std::memory_order_relaxed);
    join(std::move(block));
  } catch (const InputFault& fault) {
    builder_.drop_record();
    fault_ = std::make_unique<InputFault>(fault);
  }
}

// Reads the first block in this thread: helpers must know the first character of records to start.
void RecordStream::first_block() {
  Lines& lines = reader_.lines();
  const std::size_t size = bytes_before(file_.end, file_.position, file_.block);
  const std::size_t got = read_at(file_.descriptor, file_.position, lines.prepare(size), size);
  file_.position += static_cast<std::int64_t>(got);
  bytes_read_ahead_.fetch_add(static_cast<std::int64_t>(got), std::memory_order_relaxed);
  if (got)
    lines.commit(got);
  else
    lines.close();
}

// Accepts a helper's records if the bytes between them and the previous records are complete records as well. Otherwise
// the helper guessed the start of a record wrong, and the block is parsed again here.
void RecordStream::join(std::shared_ptr<ParsedBlock> joined) {
  ParsedBlock& block = *joined;
  const std::string_view text = block.reader.lines().buffered();
  if (!block.parsed) return append(text);
  append(text.substr(0, block.first));
  builder_.allow_references(false);  // append() below may move the lines before these records are taken
  while (next_record() == ParseResult::Item) continue;
  builder_.allow_references(true);
  if (reader_.mark() != block.mark || !reader_.end_before_record()) return append(text.substr(block.first));
  if (builder_.is_open()) {
    builder_.end_record();
    if (tracked_) built_.push_back(open_);
  }
  const RecordStart before = next_start();
  for (RecordStart& start : block.starts) {
    start.offset += before.offset - static_cast<std::int64_t>(block.first);
    start.lines += before.lines;
  }
  if (block.fault) block.fault->line += reader_.lines().number();
  behind_ = std::move(joined);
  if (block.fault) return;
  reader_.lines().pass(block.rest - block.first, block.lines);
  append(text.substr(block.rest));
}

}  // namespace wfacli
