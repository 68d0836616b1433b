#include "format/bam_index.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/types.hpp"
#include "mapped/bam_bytes.hpp"

namespace wfacli {
namespace {

constexpr int kShift = 14, kBaiLevels = 5;  // of the windows, which are the smallest bins; levels of bins above them
constexpr std::uint64_t kNone = ~std::uint64_t{0};

// Number of bins of `levels` levels below the root; also the number of the first bin of the level below these.
constexpr std::uint32_t bins_of(int levels) { return ((std::uint32_t{1} << 3 * (levels + 1)) - 1) / 7; }

template <class T>
void put(Buffer<char>& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Returns the number of reference bases that a CIGAR of `runs` operations at `at` spans.
std::int64_t span_of(const BamBytes& record, std::size_t at, std::size_t runs) {
  constexpr std::uint32_t kOfReference = 1u << 0 | 1u << 2 | 1u << 3 | 1u << 7 | 1u << 8;  // M D N = X
  std::int64_t span = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::uint32_t run = record.u32(at + 4 * i);
    if (kOfReference >> (run & 15) & 1) span += run >> 4;
  }
  return span;
}

}  // namespace

BamIndex::BamIndex(std::int64_t targets, std::int64_t longest, bool csi)
    : targets_(targets), csi_(csi), levels_(csi ? 0 : kBaiLevels) {
  while (csi && std::int64_t{1} << (kShift + 3 * levels_) < longest) ++levels_;
  out_.append(csi ? "CSI\1" : "BAI\1", 4);
  if (csi)
    for (const std::int32_t value : {kShift, levels_, 0}) put(out_, value);  // 0: bytes of further data
  put(out_, static_cast<std::int32_t>(targets));
}

std::uint32_t BamIndex::bin_of(std::int64_t begin, std::int64_t end) const {
  int shift = kShift;
  for (int level = levels_; level > 0; --level, shift += 3)
    if (begin >> shift == (end - 1) >> shift) return bins_of(level - 1) + static_cast<std::uint32_t>(begin >> shift);
  return 0;
}

std::size_t BamIndex::first_window(std::uint32_t bin) const {
  int level = 0;
  while (level < levels_ && bin >= bins_of(level)) ++level;
  const std::uint32_t first = level ? bins_of(level - 1) : 0;
  return static_cast<std::size_t>(bin - first) << 3 * (levels_ - level);
}

void BamIndex::add(std::string_view records, std::size_t block_bytes, const std::vector<std::uint64_t>& blocks) {
  if (block_bytes == 0 || blocks.size() != (records.size() + block_bytes - 1) / block_bytes + 1)
    throw std::invalid_argument("the blocks are not those of the records");
  const auto offset_of = [&](std::size_t at) {
    return at == records.size() ? blocks.back() << 16 : blocks[at / block_bytes] << 16 | at % block_bytes;
  };
  for (std::size_t at = 0; at < records.size();) {
    const BamBytes record(records.substr(at));
    const std::size_t size = record.record();
    if (size < 4 + BamBytes::kFixed) throw std::invalid_argument("a record is incomplete");
    Place place{};
    place.target = static_cast<std::int32_t>(record.u32(4));
    place.begin = static_cast<std::int32_t>(record.u32(8));
    place.mapped = !(record.u16(18) & kUnmapped);
    const std::size_t cigar = 4 + BamBytes::kFixed + record.u8(12);
    const std::size_t runs = std::min<std::size_t>(record.u16(16), (size - std::min(size, cigar)) / 4);
    place.end = place.begin + std::max<std::int64_t>(place.mapped ? span_of(record, cigar, runs) : 0, 1);
    place.chunk = {offset_of(at), offset_of(at + size)};
    add_record(place);
    at += size;
  }
}

void BamIndex::add_record(const Place& place) {
  if (place.target < 0 || place.begin < 0) {
    ++without_target_;
    return;
  }
  if (place.target != current_) finish_target(place.target);
  if (mapped_ + unmapped_ == 0) span_.begin = place.chunk.begin;
  span_.end = place.chunk.end;
  ++(place.mapped ? mapped_ : unmapped_);
  std::vector<Chunk>& chunks = bins_[bin_of(place.begin, place.end)];
  // Chunks that share a block are joined, since the block is read for either.
  if (!chunks.empty() && chunks.back().end >> 16 == place.chunk.begin >> 16)
    chunks.back().end = place.chunk.end;
  else
    chunks.push_back(place.chunk);
  add_window_offsets(place);
}

void BamIndex::add_window_offsets(const Place& place) {
  const auto first = static_cast<std::size_t>(place.begin >> kShift);
  const auto last = static_cast<std::size_t>((place.end - 1) >> kShift);
  if (last >= windows_.size()) windows_.resize(last + 1, kNone);
  for (std::size_t w = first; w <= last; ++w) windows_[w] = std::min(windows_[w], place.chunk.begin);
}

void BamIndex::write_bins() {
  const std::uint32_t summary = bins_of(levels_) + 1;  // a number that no bin has: span and counts of the records
  put(out_, static_cast<std::int32_t>(bins_.size() + 1));
  const auto head = [&](std::uint32_t bin, std::uint64_t first, std::size_t chunks) {
    put(out_, bin);
    if (csi_) put(out_, first);
    put(out_, static_cast<std::int32_t>(chunks));
  };
  for (const auto& [bin, chunks] : bins_) {
    head(bin, windows_[first_window(bin)], chunks.size());
    for (const Chunk& chunk : chunks) put(out_, chunk);
  }
  head(summary, 0, 2);
  put(out_, span_);
  put(out_, Chunk{mapped_, unmapped_});
}

void BamIndex::finish_target(std::int64_t next) {
  if (next < current_) throw std::invalid_argument("the records are not in order");
  const bool any = mapped_ + unmapped_ > 0;
  // Windows without records get the offset of the next one, so that a query that starts there skips what is before.
  for (std::size_t w = windows_.size(); w-- > 1;) windows_[w - 1] = std::min(windows_[w - 1], windows_[w]);
  if (any) {
    write_bins();
    if (!csi_) {
      put(out_, static_cast<std::int32_t>(windows_.size()));
      for (const std::uint64_t offset : windows_) put(out_, offset);
    }
    ++current_;
  }
  for (; current_ < next; ++current_) {
    put(out_, std::int32_t{0});             // bins
    if (!csi_) put(out_, std::int32_t{0});  // windows
  }
  bins_.clear();
  windows_.clear();
  mapped_ = unmapped_ = 0;
}

Buffer<char> BamIndex::finish() {
  if (current_ < targets_) finish_target(targets_);
  put(out_, without_target_);
  return std::move(out_);
}

}  // namespace wfacli
