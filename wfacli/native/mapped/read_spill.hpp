// Buffer of reads that wait for their mappings, by name; spills to disk beyond a maximum of memory.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/buffer.hpp"

namespace wfacli {

struct ReadView {
  std::string_view name, bases, quality, comment;
  bool has_quality = false;
  bool lasts = false;  // bases and quality stay where they are until the batch is complete
  bool name_lasts = false;  // so does the name
};

class ReadSpill {
 public:
  // Buffers up to `room` bytes of reads in memory and spills later reads to an unlinked file in `folder`.
  ReadSpill(std::string folder, std::size_t room) : folder_(std::move(folder)), room_(room) {}
  ~ReadSpill();
  ReadSpill(const ReadSpill&) = delete;
  ReadSpill& operator=(const ReadSpill&) = delete;

  // Adds a read. All members throw std::system_error if the file cannot be written or read.
  void put(const ReadView& read);
  // Removes a read; the view is valid until the next call. Returns false if there is none of that name.
  bool take(const std::string& name, ReadView& read);
  bool has(const std::string& name) const { return index_.count(name) > 0; }
  // Removes the earliest read that is left.
  bool take_first(ReadView& read);
  std::size_t count() const { return index_.size(); }
  // Returns the number of reads that were put so far.
  std::size_t put_count() const { return locations_.size(); }
  // Returns the number before put() of the earliest read that take() has removed since the last call, or SIZE_MAX.
  std::size_t earliest_taken() { return std::exchange(earliest_taken_, SIZE_MAX); }

 private:
  struct Location {
    std::int64_t at;  // offset in memory_, or kOnDisk + offset in the file
    std::int32_t name, bases, comment;
    bool has_quality, taken = false;
    std::size_t bytes() const;
  };
  static constexpr std::int64_t kOnDisk = std::int64_t{1} << 62;
  void flush();
  void view(const Location& place, ReadView& read);

  std::string folder_;
  std::size_t room_;
  Buffer<char> memory_, unwritten_, taken_bytes_;
  std::int64_t written_ = 0;  // bytes written to the file
  int file_ = -1;
  std::vector<Location> locations_;
  std::size_t earliest_taken_ = SIZE_MAX;
  std::size_t first_ = 0;  // reads before this index in locations_ are taken
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace wfacli
