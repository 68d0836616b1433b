#include "mapped/read_spill.hpp"

#include <unistd.h>

#include <algorithm>
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

std::size_t ReadSpill::Location::bytes() const {
  return static_cast<std::size_t>(name) + static_cast<std::size_t>(bases) * (has_quality ? 2 : 1) +
         static_cast<std::size_t>(comment);
}

ReadSpill::~ReadSpill() {
  if (file_ >= 0) ::close(file_);
}

void ReadSpill::put(const ReadView& read) {
  Location place{0, static_cast<std::int32_t>(read.name.size()), static_cast<std::int32_t>(read.bases.size()),
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
  to.append(read.bases.data(), read.bases.size());
  if (read.has_quality) to.append(read.quality.data(), read.quality.size());
  to.append(read.comment.data(), read.comment.size());
  if (unwritten_.size() >= kBlock) flush();
  index_.emplace(read.name, locations_.size());
  locations_.push_back(place);
}

void ReadSpill::flush() {
  const char* from = unwritten_.data();
  for (std::size_t left = unwritten_.size(); left > 0;) {
    const ssize_t done = ::pwrite(file_, from, left, written_);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(folder_);
    from += done, left -= static_cast<std::size_t>(done), written_ += done;
  }
  unwritten_.clear();
}

void ReadSpill::view(const Location& place, ReadView& read) {
  const char* from = memory_.data() + place.at;
  if (place.at >= kOnDisk) {
    flush();
    taken_bytes_.resize(place.bytes());
    for (std::size_t done = 0; done < taken_bytes_.size();) {
      const ssize_t got = ::pread(file_, taken_bytes_.data() + done, taken_bytes_.size() - done,
                                  place.at - kOnDisk + static_cast<std::int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(folder_);
      done += static_cast<std::size_t>(got);
    }
    from = taken_bytes_.data();
  }
  const auto bases = static_cast<std::size_t>(place.bases);
  read.name = {from, static_cast<std::size_t>(place.name)};
  read.bases = {from + place.name, bases};
  read.has_quality = place.has_quality;
  read.lasts = read.name_lasts = false;
  read.quality = place.has_quality ? std::string_view(from + place.name + place.bases, bases) : std::string_view();
  const auto comment = static_cast<std::size_t>(place.comment);
  read.comment = {from + place.bytes() - comment, comment};
}

bool ReadSpill::take(const std::string& name, ReadView& read) {
  if (index_.empty()) return false;
  const auto found = index_.find(name);
  if (found == index_.end()) return false;
  Location& place = locations_[found->second];
  earliest_taken_ = std::min(earliest_taken_, found->second);
  index_.erase(found);
  place.taken = true;
  view(place, read);
  return true;
}

bool ReadSpill::take_first(ReadView& read) {
  while (first_ < locations_.size() && locations_[first_].taken) ++first_;
  if (first_ == locations_.size()) return false;
  Location& place = locations_[first_++];
  place.taken = true;
  view(place, read);
  index_.erase(std::string(read.name));
  return true;
}

}  // namespace wfacli
