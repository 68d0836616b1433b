// Sorting of records by position: frames (bytes of the record, sort key, record), sorted per batch, and a stable merge
// of sorted runs of frames.
#pragma once

#include <string_view>
#include <vector>

#include "base/buffer.hpp"

namespace wfacli {

// Returns the key of samtools' order by coordinate: target, position, strand; records without a target are last.
// `position`: from 1; 0 for none.
WFACLI_INLINE std::uint64_t sort_key(std::int32_t target, std::int64_t position, bool reverse) {
  constexpr std::uint64_t kNoTarget = (1u << 31) - 1;
  return (target < 0 ? kNoTarget : static_cast<std::uint64_t>(target)) << 33 |
         static_cast<std::uint64_t>(position) << 1 | static_cast<std::uint64_t>(reverse);
}

// Keys and ends of the records in a text.
struct SortColumns {
  Buffer<std::uint64_t> keys;
  Buffer<std::size_t> ends;  // offset behind each record

  void push(std::uint64_t key, std::size_t end) {
    keys.push(key);
    ends.push(end);
  }
};

// Returns the records of a text as frames in the order of their keys; equal ones keep their order.
Buffer<char> sorted_frames(std::string_view text, const SortColumns& columns);

// Returns the complete BAM records at the front of `records` as frames in the order of their keys; equal ones keep their
// order. Sets `bytes` to the bytes of these records. Throws std::invalid_argument if something else is found.
Buffer<char> sorted_bam_frames(std::string_view records, std::size_t& bytes);

// Merges sorted runs of frames. Of equal keys, those of earlier runs are first.
class FrameMerge {
 public:
  static constexpr std::int64_t kFull = -1, kEnd = -2;  // returned by merge()

  explicit FrameMerge(std::size_t runs);
  // Continues a run with its next frames, which must stay in memory until merge() requests the ones after them; no
  // frames end the run. Throws std::invalid_argument if they are damaged.
  void feed(std::size_t run, std::string_view frames);
  // Appends records, or with `keep_frames` their frames, to `out` until it has `limit` bytes or more. Returns a run
  // that must be fed before the next call; kFull; or kEnd after the last record.
  std::int64_t merge(Buffer<char>& out, std::size_t limit, bool keep_frames);

 private:
  struct Head {
    std::uint64_t key;
    std::size_t run;
    bool operator<(const Head& other) const { return key != other.key ? key < other.key : run < other.run; }
  };
  void sift_down(std::size_t at);
  void push(Head head);
  // Checks the first frame of a run, and returns its head.
  Head head_of(std::size_t run) const;

  std::vector<std::string_view> rest_;  // frames of each run that are not merged
  std::vector<std::size_t> hungry_;     // runs to be fed
  std::vector<Head> heap_;              // first frame of every other run, the smallest at the root
};

}  // namespace wfacli
