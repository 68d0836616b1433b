#include "format/sorted_frames.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace wfacli {
namespace {

struct FrameHeader {
  std::uint32_t bytes;
  std::uint32_t key[2];  // low and high half, so that the header has no padding
};

FrameHeader header_of(const char* frame) {
  FrameHeader header;
  std::memcpy(&header, frame, sizeof header);
  return header;
}

std::uint64_t key_of(const FrameHeader& header) {
  return std::uint64_t{header.key[1]} << 32 | header.key[0];
}

}  // namespace

Buffer<char> sorted_frames(std::string_view text, const SortColumns& columns) {
  struct Entry {
    std::uint64_t key;
    std::size_t record;
  };
  const std::size_t count = columns.keys.size();
  std::vector<Entry> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = {columns.keys[i], i};
  std::sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.record < b.record;
  });
  Buffer<char> frames;
  frames.reserve(text.size() + count * sizeof(FrameHeader));
  for (const auto [key, record] : order) {
    const std::size_t begin = record ? columns.ends[record - 1] : 0, bytes = columns.ends[record] - begin;
    if (bytes > UINT32_MAX) throw std::overflow_error("a record of more than 4 GiB cannot be sorted");
    const FrameHeader header = {static_cast<std::uint32_t>(bytes),
                                {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
    frames.append(reinterpret_cast<const char*>(&header), sizeof header);
    frames.append(text.data() + begin, bytes);
  }
  return frames;
}

Buffer<char> sorted_bam_frames(std::string_view records, std::size_t& bytes) {
  constexpr std::size_t kTarget = 4, kPosition = 8, kFlags = 18, kFixed = 36;
  constexpr std::uint16_t kReverse = 16;
  SortColumns columns;
  for (bytes = 0; records.size() - bytes >= kFixed;) {
    const char* record = records.data() + bytes;
    std::uint32_t size;
    std::int32_t target, position;
    std::uint16_t flags;
    std::memcpy(&size, record, sizeof size);
    std::memcpy(&target, record + kTarget, sizeof target);
    std::memcpy(&position, record + kPosition, sizeof position);
    std::memcpy(&flags, record + kFlags, sizeof flags);
    if (size < kFixed - sizeof size) throw std::invalid_argument("a BAM record is too short");
    if (size > records.size() - bytes - sizeof size) break;
    bytes += sizeof size + size;
    columns.push(sort_key(target, std::int64_t{position} + 1, flags & kReverse), bytes);
  }
  return sorted_frames(records.substr(0, bytes), columns);
}

FrameMerge::FrameMerge(std::size_t runs) : rest_(runs), hungry_(runs) {
  std::iota(hungry_.rbegin(), hungry_.rend(), 0);
}

FrameMerge::Head FrameMerge::head_of(std::size_t run) const {
  const std::string_view rest = rest_[run];
  if (rest.size() < sizeof(FrameHeader) || header_of(rest.data()).bytes > rest.size() - sizeof(FrameHeader))
    throw std::invalid_argument("a frame is incomplete");
  return {key_of(header_of(rest.data())), run};
}

void FrameMerge::feed(std::size_t run, std::string_view frames) {
  const auto hungry = std::find(hungry_.rbegin(), hungry_.rend(), run);
  if (hungry == hungry_.rend()) throw std::invalid_argument("the run is not to be fed");
  hungry_.erase(std::next(hungry).base());
  rest_[run] = frames;
  if (!frames.empty()) push(head_of(run));
}

void FrameMerge::push(Head head) {
  heap_.push_back(head);
  for (std::size_t at = heap_.size() - 1; at > 0;) {
    const std::size_t parent = (at - 1) / 2;
    if (!(heap_[at] < heap_[parent])) break;
    std::swap(heap_[at], heap_[parent]);
    at = parent;
  }
}

void FrameMerge::sift_down(std::size_t at) {
  const Head head = heap_[at];
  for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < head)) break;
    heap_[at] = heap_[child];
  }
  heap_[at] = head;
}

std::int64_t FrameMerge::merge(Buffer<char>& out, std::size_t limit, bool keep_frames) {
  while (true) {
    if (!hungry_.empty()) return static_cast<std::int64_t>(hungry_.back());
    if (heap_.empty()) return kEnd;
    if (out.size() >= limit) return kFull;
    const std::size_t run = heap_[0].run;
    std::string_view& rest = rest_[run];
    const std::size_t bytes = sizeof(FrameHeader) + header_of(rest.data()).bytes;
    const std::size_t from = keep_frames ? 0 : sizeof(FrameHeader);
    out.append(rest.data() + from, bytes - from);
    rest.remove_prefix(bytes);
    if (rest.empty()) {
      heap_[0] = heap_.back();
      heap_.pop_back();
      hungry_.push_back(run);
    } else {
      heap_[0] = head_of(run);
    }
    if (!heap_.empty()) sift_down(0);
  }
}

}  // namespace wfacli
