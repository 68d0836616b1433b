#include "mapped/grouping_scan.hpp"

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/hashing.hpp"
#include "io/read_ahead.hpp"
#include "mapped/bam_bytes.hpp"

namespace wfacli {
namespace {

constexpr int kBlocksAhead = 2;  // blocks in flight per thread

std::string_view without_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view name_in(std::string_view line) { return line.substr(0, line.find('\t')); }

// Text of a file from a position on.
struct Text {
  Buffer<std::uint8_t> bytes;
  bool at_end = false;  // nothing follows

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  void read(int descriptor, std::int64_t position, std::size_t size) {
    bytes.resize(size);
    const std::size_t got = read_at(descriptor, position, bytes.data(), size);
    at_end = got < size;
    bytes.resize(got);
  }
};

// Names in the lines that end in a block, except the first one, whose beginning is in the block before.
struct Block : ThreadPool::Task {
  int descriptor;
  std::int64_t position = 0;
  std::size_t size = 0;

  Text text;
  std::size_t first_end = 0;      // bytes of the first line, with its end; 0 if no line ends here
  std::string_view rest;          // of the last line, which ends in a later block
  Buffer<std::uint64_t> keys;     // of the names, once per run of equal ones
  std::string_view first, last;   // names
  std::size_t longest = 0;        // bytes of the longest line
  bool failed = false;

  explicit Block(int from) : descriptor(from) {}

  void work() override {
    keys.clear();
    first = last = {};
    longest = 0;
    failed = false;
    try {
      text.read(descriptor, position, size);
    } catch (const InputFault&) {
      failed = true;
      return;
    }
    const std::string_view all = text.view();
    first_end = all.find('\n') + 1;  // 0 if there is none
    std::size_t at = first_end;
    for (std::size_t end; at > 0 && (end = all.find('\n', at)) != all.npos; at = end + 1) add(all.substr(at, end - at));
    rest = all.substr(at);
  }

 private:
  void add(std::string_view line) {
    longest = std::max(longest, line.size());
    line = without_return(line);
    if (line.empty()) return;
    const std::string_view name = name_in(line);
    if (keys.empty()) first = name;
    if (keys.empty() || name != last || name.empty()) keys.push(NameSet::key(name));
    last = name;
  }
};

// Finds the first mapping; returns false if it is not in the first `size` bytes.
bool skip_header(int descriptor, std::size_t size, std::int64_t& position) {
  Text text;
  text.read(descriptor, 0, size);
  const std::string_view all = text.view();
  if (all.substr(0, BamBytes::kMagic.size()) == BamBytes::kMagic) return false;
  for (std::size_t at = 0, end; (end = all.find('\n', at)) != all.npos; at = end + 1) {
    const std::string_view line = without_return(all.substr(at, end - at));
    if (line.empty() || line[0] == '@' || line[0] == '#') continue;
    position = static_cast<std::int64_t>(at);
    return true;
  }
  return false;
}

class Scan {
 public:
  // Adds the names of the next block; false if the answer is known.
  bool add(const Block& block) {
    if (block.failed || block.longest > max_line_bytes) return unknown();
    if (block.first_end > 0) {
      open_.append(block.text.view().substr(0, block.first_end - 1));
      if (open_.size() > max_line_bytes) return unknown();
      if (!add_line()) return false;
    }
    std::size_t i = !block.keys.empty() && !block.first.empty() && block.first == last_ ? 1 : 0;
    for (; i < block.keys.size(); ++i)
      if (!seen_.add_key(block.keys.data()[i])) return not_grouped();
    if (!block.keys.empty()) last_ = block.last;
    open_ += block.rest;
    return open_.size() <= max_line_bytes || unknown();
  }
  // Adds the last line, which has no end.
  void end() { add_line(); }
  GroupingAnswer answer() const { return answer_; }

 private:
  bool unknown() {
    answer_ = GroupingAnswer::Unknown;
    return false;
  }
  bool not_grouped() {
    answer_ = GroupingAnswer::NotGrouped;
    return false;
  }
  bool add_line() {
    const std::string_view line = without_return(open_), name = name_in(line);
    const bool again = name == last_ && !name.empty();
    if (!line.empty() && !again) {
      if (!seen_.add_key(NameSet::key(name))) return not_grouped();
      last_ = name;
    }
    open_.clear();
    return true;
  }

  GroupingAnswer answer_ = GroupingAnswer::Grouped;
  NameSet seen_;
  std::string open_, last_;  // line that ends in a later block; name of the line before
};

}  // namespace

GroupingAnswer scan_grouping(int descriptor, int threads, std::size_t block) {
  std::int64_t position = 0;
  try {
    if (!skip_header(descriptor, block, position)) return GroupingAnswer::Unknown;
  } catch (const InputFault&) {
    return GroupingAnswer::Unknown;
  }
  std::deque<std::shared_ptr<Block>> blocks;
  ThreadPool pool(threads);
  const auto begin = [&](std::shared_ptr<Block> next) {
    next->position = position;
    next->size = block;
    position += static_cast<std::int64_t>(block);
    next->prepare();
    pool.add(next);
    blocks.push_back(std::move(next));
  };
  for (int i = 0; i < kBlocksAhead * threads; ++i) begin(std::make_shared<Block>(descriptor));
  Scan scan;
  bool more = true;
  while (more) {
    std::shared_ptr<Block> next = std::move(blocks.front());
    blocks.pop_front();
    next->finish();
    more = scan.add(*next) && !next->text.at_end;
    if (next->text.at_end && scan.answer() == GroupingAnswer::Grouped) scan.end();
    if (more) begin(std::move(next));
  }
  for (const auto& left : blocks) left->drop();
  return scan.answer();
}

}  // namespace wfacli
