#include "io/read_ahead.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace wfacli {
namespace {

constexpr int kBlocksAhead = 2;    // blocks in flight per helper, for each file,
constexpr int kMinBlocks = 2;      // and in addition to them
constexpr int kPatience = 2;       // queued blocks per awake thread before another thread is woken

// Returns the offset of the next line, or npos.
std::size_t next_line(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == text.npos ? end : end + 1;
}

// True if the four lines from `header` on look like a FASTQ record, followed by another one or by the end of the text.
bool looks_like_fastq(std::string_view text, std::size_t header) {
  std::size_t line[5] = {header};
  for (int i = 1; i < 5; ++i) {
    line[i] = next_line(text, line[i - 1]);
    if (line[i] == text.npos) return false;
  }
  const bool same = line[2] - line[1] == line[4] - line[3];
  return same && text[line[2]] == '+' && (line[4] == text.size() || text[line[4]] == '@');
}

// Returns the offset of the first record that seems to begin after a line feed, or npos. '>' is conclusive in FASTA; in
// FASTQ a quality line may begin with '@' too, so the lines that follow are checked.
std::size_t first_record(std::string_view text, char mark) {
  const char begin[] = {'\n', mark, 0};
  for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos; ++at)
    if (mark == '>' || looks_like_fastq(text, at + 1)) return at + 1;
  return text.npos;
}

}  // namespace

std::size_t read_at(int descriptor, std::int64_t position, std::uint8_t* room, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor, room + done, size - done, position + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputFault(std::strerror(errno), 0, {});
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void ParsedBlock::parse() {
  const std::string_view text = reader.lines().buffered();
  first = first_record(text, mark);
  parsed = first != text.npos;
  if (!parsed) return;
  reader.continue_at(first, mark);
  starts.clear();
  try {
    for (;;) {
      const RecordStart start{reader.offset(), reader.line_number()};
      if (reader.next(builder) != ParseResult::Item) break;
      if (tracked) starts.push_back(start);
    }
  } catch (const InputFault& found) {
    fault = std::make_unique<InputFault>(found);
  }
  builder.drop_record();
  rest = reader.rest_at();
  lines = reader.lines_before_rest();
  builder.take(columns);
}

void ParsedBlock::fill(int descriptor) {
  parsed = false;
  fault.reset();
  error = nullptr;
  try {
    Lines& block = reader.lines();
    block.clear();
    block.commit(read_at(descriptor, position, block.prepare(size), size));
    parse();
  } catch (...) {
    error = std::current_exception();
  }
}

struct ReadAhead::Slot : ThreadPool::Task {
  ParsedBlock block;
  int descriptor;

  Slot(RecordParts::Keep keep, int from) : block(keep), descriptor(from) {}
  void work() override { block.fill(descriptor); }
};

ReadAhead::ReadAhead(std::shared_ptr<ThreadPool> pool, int descriptor, std::int64_t position, std::int64_t end,
                     std::size_t block, char mark, RecordParts::Keep keep, bool tracked)
    : pool_(std::move(pool)),
      descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
      position_(position),
      end_(end),
      block_(block),
      mark_(mark),
      keep_(keep),
      tracked_(tracked) {
  if (descriptor_ < 0) throw InputFault(std::strerror(errno), 0, {});
  const int ahead = kBlocksAhead * pool_->threads() + kMinBlocks;
  for (int i = 0; i < ahead; ++i) {
    slots_.push_back(std::make_shared<Slot>(keep, descriptor_));
    begin(slots_.back());
  }
}

ReadAhead::~ReadAhead() {
  for (const auto& slot : slots_) slot->drop();
  ::close(descriptor_);
}

void ReadAhead::begin(const std::shared_ptr<Slot>& slot) {
  slot->block.position = position_;
  slot->block.size = bytes_before(end_, position_, block_);
  slot->block.mark = mark_;
  slot->block.tracked = tracked_;
  position_ += static_cast<std::int64_t>(block_);
  slot->prepare();
  pool_->add(slot, kPatience);
}

// Returns a slot whose block nothing refers to any more, or a new one.
std::shared_ptr<ReadAhead::Slot> ReadAhead::free_slot() {
  if (returned_.front().use_count() > 1) return std::make_shared<Slot>(keep_, descriptor_);
  std::atomic_thread_fence(std::memory_order_acquire);  // what other threads did with the block is done
  std::shared_ptr<Slot> free = std::move(returned_.front());
  returned_.pop_front();
  return free;
}

std::shared_ptr<ParsedBlock> ReadAhead::next() {
  if (used_ && !ended_) {
    returned_.push_back(std::move(slots_.front()));
    slots_.pop_front();
    slots_.push_back(free_slot());
    begin(slots_.back());
  }
  if (ended_) return nullptr;
  used_ = true;
  Slot& slot = *slots_.front();
  slot.finish();
  if (slot.block.error) std::rethrow_exception(slot.block.error);
  ended_ = slot.block.reader.lines().buffered().size() < block_;
  return {slots_.front(), &slot.block};
}

}  // namespace wfacli
