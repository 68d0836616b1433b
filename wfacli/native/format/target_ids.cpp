#include "format/target_ids.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string>

#include "base/hashing.hpp"
#include "mapped/bam_bytes.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kTextAt = 8;  // offset of the text in the header of BAM
constexpr std::size_t kMaxText = INT32_MAX;

void add_u32(Buffer<char>& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

TargetIds::TargetIds(std::string_view text) {
  static_assert(std::endian::native == std::endian::little, "BAM's numbers are written as they are");
  if (text.size() > kMaxText) throw std::overflow_error("BAM cannot hold a header of more than 2 GiB");
  header_.append(BamBytes::kMagic.data(), BamBytes::kMagic.size());
  add_u32(header_, text.size());
  header_.append(text.data(), text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(header_.data() + kTextAt + at, end - at);
    if (line.starts_with("@SQ\t")) read_line(line);
    at = end + 1;
  }
  add_binary();
  hash();
}

void TargetIds::read_line(std::string_view line) {
  Target target{};
  bool named = false, measured = false;
  for (std::size_t at = 4; at < line.size();) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    const std::string_view field = line.substr(at, end - at);
    if (field.starts_with("SN:")) {
      named = field.size() > 3;
      target.name = static_cast<std::uint64_t>(field.data() + 3 - header_.data());
      target.name_len = static_cast<std::uint32_t>(field.size() - 3);
    } else if (field.starts_with("LN:")) {
      const auto [last, error] = std::from_chars(field.data() + 3, field.data() + field.size(), target.length);
      measured = error == std::errc() && last == field.data() + field.size();
    }
    at = end + 1;
  }
  if (!named || !measured) throw std::invalid_argument("a header line has no name and length: " + std::string(line));
  longest_ = std::max<std::int64_t>(longest_, target.length);
  targets_.push(target);
}

void TargetIds::add_binary() {
  add_u32(header_, targets_.size());
  for (const Target& target : std::span(targets_.data(), targets_.size())) {
    add_u32(header_, target.name_len + 1);
    const std::size_t at = header_.size();
    char* to = header_.extend(target.name_len + 1);  // may move the names, so they are looked up afterwards
    std::memcpy(to, header_.data() + target.name, target.name_len);
    header_[at + target.name_len] = '\0';
    add_u32(header_, target.length);
  }
}

void TargetIds::hash() {
  slots_.resize(std::bit_ceil(2 * targets_.size() + 1));
  std::fill_n(slots_.data(), slots_.size(), -1);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    std::int32_t& slot = slots_[slot_of(name(targets_[i]))];
    if (slot < 0) slot = static_cast<std::int32_t>(i);
  }
}

std::size_t TargetIds::slot_of(std::string_view wanted) const {
  const std::size_t mask = slots_.size() - 1;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(wanted.data());
  std::size_t i = hash_bytes(bytes, static_cast<std::int64_t>(wanted.size()), 1) & mask;
  while (slots_[i] >= 0 && name(targets_[static_cast<std::size_t>(slots_[i])]) != wanted) i = (i + 1) & mask;
  return i;
}

std::int32_t TargetIds::find(std::string_view wanted) const { return slots_[slot_of(wanted)]; }

std::int32_t TargetFinder::id(const BatchView& batch, std::int64_t row) {
  if (row < 0) return -1;
  const std::string_view name = batch.target_name(row);
  if (id_ < 0 || name != name_) {
    id_ = targets_ ? targets_->find(name) : -1;
    name_ = name;
    if (id_ < 0) throw std::invalid_argument("the header has no target " + std::string(name));
  }
  return id_;
}

}  // namespace wfacli
