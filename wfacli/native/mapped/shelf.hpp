// Reads that were passed over, kept until somebody asks for them by name: in memory, and what is more on disk.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"

namespace wfacli {

struct ReadView {
  std::string_view name, letters, quality, comment;
  bool has_quality = false;
};

class Shelf {
 public:
  // Reads of `room` bytes are kept in memory; later ones go to a file without a name in `folder`.
  Shelf(std::string folder, std::size_t room) : folder_(std::move(folder)), room_(room) {}
  ~Shelf();
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  // Throws std::system_error where the file cannot be written or read.
  void put(const ReadView& read);
  // Takes a read; the view is valid until the next call. False where there is none of that name.
  bool take(const std::string& name, ReadView& read);
  bool has(const std::string& name) const { return places_.count(name) > 0; }
  // Takes the first of those that are left, in the order in which they came.
  bool take_first(ReadView& read);
  std::size_t count() const { return places_.size(); }

 private:
  struct Place {
    std::int64_t at;  // in memory; from kOnDisk on, in the file
    std::int32_t name, letters, comment;
    bool has_quality, taken = false;
    std::size_t bytes() const;
  };
  static constexpr std::int64_t kOnDisk = std::int64_t{1} << 62;
  void flush();
  void view(const Place& place, ReadView& read);

  std::string folder_;
  std::size_t room_;
  Buffer<char> memory_, unwritten_, held_;
  std::int64_t written_ = 0;  // bytes of the file
  int file_ = -1;
  std::vector<Place> order_;
  std::size_t first_ = 0;  // of order_ that may be left
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace wfacli
