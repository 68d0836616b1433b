#include "mapped/grouping.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <vector>


namespace wfacli {
namespace {

void write_all(int descriptor, const std::uint8_t* from, std::size_t left) {
  while (left > 0) {
    const ssize_t done = ::write(descriptor, from, left);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw std::system_error(errno, std::generic_category());
    from += done, left -= static_cast<std::size_t>(done);
  }
}

}  // namespace

void MappingGroups::take(std::string_view name, std::size_t bytes) {
  if (!mapped_) header_ = taken_;
  mapped_ = true;
  if (name != last_ || name.empty()) {
    grouped_ = seen_.add(name) && grouped_;
    last_ = name;
  }
  if (places_) {
    const std::uint64_t key =
        hash_bytes(reinterpret_cast<const std::uint8_t*>(name.data()), static_cast<std::int64_t>(name.size()), 1);
    group_.push(numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second);
    start_.push(taken_);
  }
  taken_ += bytes;
}

bool MappingGroups::take_bam_header() {
  const std::size_t bytes = bam_header_.take(lines_.unread(), max_line_bytes, [](std::string_view, std::uint32_t) {});
  lines_.skip(bytes, 0);
  taken_ += bytes;
  begun_ = bam_header_.whole();
  too_long_ = bam_header_.name_bytes() > max_line_bytes;
  return begun_;
}

bool MappingGroups::take_bam_record() {
  const BamBytes all(lines_.unread());
  const std::size_t bytes = all.record();
  too_long_ = all.size_without_sequence() > max_line_bytes;
  if (bytes == 0 || too_long_) return false;
  const std::size_t name = bytes > 4 + BamBytes::kFixed ? all.u8(12) : 0;
  const std::string_view read = name ? all.text(4 + BamBytes::kFixed, name - 1) : std::string_view();
  take(read, bytes);
  lines_.skip(bytes, 1);
  return true;
}

bool MappingGroups::take_line() {
  too_long_ = length_.exceeds(lines_.partial_line());
  if (too_long_) return false;
  const std::size_t before = lines_.unread().size();
  std::string_view line;
  if (lines_.take_row(line) != ParseResult::Item) return false;
  length_.clear();
  const std::size_t bytes = before - lines_.unread().size();
  const bool header = line.empty() || (!mapped_ && (line[0] == '@' || line[0] == '#'));
  if (header)
    taken_ += bytes;
  else
    take(line.substr(0, line.find('\t')), bytes);
  return true;
}

void MappingGroups::commit(std::size_t bytes) {
  if (bytes)
    lines_.commit(bytes);
  else
    lines_.close();
  if (too_long_) return;
  if (!begun_ && !bam_) {
    if (lines_.unread().size() < BamBytes::kMagic.size() && !lines_.closed()) return;
    bam_ = lines_.unread().substr(0, BamBytes::kMagic.size()) == BamBytes::kMagic;
    begun_ = !bam_;
  }
  if (bam_ && !begun_ && !take_bam_header()) return;
  while (!too_long_ && (bam_ ? take_bam_record() : take_line())) {
  }
}

void MappingGroups::write(const std::uint8_t* text, std::size_t bytes, int descriptor) {
  start_.push(taken_);
  std::vector<std::size_t> order(group_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return group_[a] < group_[b]; });
  constexpr std::size_t kBlock = 1 << 20;
  Buffer<std::uint8_t> out;
  out.append(text, header_);
  for (const std::size_t row : order) {
    out.append(text + start_[row], start_[row + 1] - start_[row]);
    // The last line of the file may lack a line feed, and may not be the last one any more.
    if (!bam_ && out.back() != '\n') out.push('\n');
    if (out.size() < kBlock) continue;
    write_all(descriptor, out.data(), out.size());
    out.clear();
  }
  // An incomplete BAM record stays last; the reader reports it.
  out.append(text + taken_, bytes - taken_);
  write_all(descriptor, out.data(), out.size());
}

}  // namespace wfacli
