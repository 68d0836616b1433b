#include "mapped/shelf.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace wfacli {
namespace {

constexpr std::size_t kBlock = 1 << 20;

[[noreturn]] void fail(const std::string& folder) {
  throw std::system_error(errno, std::generic_category(), "a temporary file for reads, in " + folder);
}

}  // namespace

std::size_t Shelf::Place::bytes() const {
  return static_cast<std::size_t>(name) + static_cast<std::size_t>(letters) * (has_quality ? 2 : 1) +
         static_cast<std::size_t>(comment);
}

Shelf::~Shelf() {
  if (file_ >= 0) ::close(file_);
}

void Shelf::put(const ReadView& read) {
  Place place{0, static_cast<std::int32_t>(read.name.size()), static_cast<std::int32_t>(read.letters.size()),
              static_cast<std::int32_t>(read.comment.size()), read.has_quality};
  const bool on_disk = file_ >= 0 || memory_.size() + place.bytes() > room_;
  if (on_disk && file_ < 0) {
    std::string path = folder_ + "/wfacli-reads-XXXXXX";
    file_ = ::mkstemp(path.data());
    if (file_ < 0) fail(folder_);
    ::unlink(path.c_str());
  }
  place.at = on_disk ? kOnDisk + written_ + static_cast<std::int64_t>(unwritten_.size())
                     : static_cast<std::int64_t>(memory_.size());
  Buffer<char>& to = on_disk ? unwritten_ : memory_;
  to.append(read.name.data(), read.name.size());
  to.append(read.letters.data(), read.letters.size());
  if (read.has_quality) to.append(read.quality.data(), read.quality.size());
  to.append(read.comment.data(), read.comment.size());
  if (unwritten_.size() >= kBlock) flush();
  places_.emplace(read.name, order_.size());
  order_.push_back(place);
}

void Shelf::flush() {
  const char* from = unwritten_.data();
  for (std::size_t left = unwritten_.size(); left > 0;) {
    const ssize_t done = ::pwrite(file_, from, left, written_);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(folder_);
    from += done, left -= static_cast<std::size_t>(done), written_ += done;
  }
  unwritten_.clear();
}

void Shelf::view(const Place& place, ReadView& read) {
  const char* from = memory_.data() + place.at;
  if (place.at >= kOnDisk) {
    flush();
    held_.resize(place.bytes());
    for (std::size_t done = 0; done < held_.size();) {
      const ssize_t got = ::pread(file_, held_.data() + done, held_.size() - done,
                                  place.at - kOnDisk + static_cast<std::int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(folder_);
      done += static_cast<std::size_t>(got);
    }
    from = held_.data();
  }
  const auto letters = static_cast<std::size_t>(place.letters);
  read.name = {from, static_cast<std::size_t>(place.name)};
  read.letters = {from + place.name, letters};
  read.has_quality = place.has_quality;
  read.quality = place.has_quality ? std::string_view(from + place.name + place.letters, letters) : std::string_view();
  const auto comment = static_cast<std::size_t>(place.comment);
  read.comment = {from + place.bytes() - comment, comment};
}

bool Shelf::take(const std::string& name, ReadView& read) {
  if (places_.empty()) return false;
  const auto found = places_.find(name);
  if (found == places_.end()) return false;
  Place& place = order_[found->second];
  places_.erase(found);
  place.taken = true;
  view(place, read);
  return true;
}

bool Shelf::take_first(ReadView& read) {
  while (first_ < order_.size() && order_[first_].taken) ++first_;
  if (first_ == order_.size()) return false;
  Place& place = order_[first_++];
  place.taken = true;
  view(place, read);
  places_.erase(std::string(read.name));
  return true;
}

}  // namespace wfacli
