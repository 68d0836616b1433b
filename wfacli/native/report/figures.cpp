#include "report/figures.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "format/record.hpp"
#include "io/reference.hpp"

namespace wfacli {
namespace {

constexpr int kExactBits = std::bit_width(static_cast<std::uint64_t>(kExactLengths)) - 1;
constexpr int kStepBits = std::bit_width(static_cast<std::uint64_t>(kBinsPerDoubling)) - 1;

void fill_zeros(Buffer<std::int64_t>& bins, std::int64_t count) {
  bins.resize(static_cast<std::size_t>(count));
  std::fill_n(bins.data(), count, 0);
}

// Both numbers are below 2^32, so that the quotient is too far from the next integer to be rounded up to it.
std::size_t identity_bin(std::int64_t matches, std::int64_t columns) {
  return static_cast<std::size_t>(static_cast<double>((kIdentityBins - 1) * matches) / static_cast<double>(columns));
}

}  // namespace

std::int64_t length_bin(std::int64_t length) {
  if (length < kExactLengths) return length;
  const int doublings = std::bit_width(static_cast<std::uint64_t>(length)) - 1 - kExactBits;
  const std::int64_t step = (length >> (doublings + kExactBits - kStepBits)) & (kBinsPerDoubling - 1);
  return std::min(kExactLengths + doublings * kBinsPerDoubling + step, kLengthBins - 1);
}

BatchFigures::BatchFigures(const Reference* reference) : reference_(reference) {
  fill_zeros(lengths_, kLengthHistograms * kLengthBins);
  fill_zeros(identity_, kIdentityBins);
  fill_zeros(quality_, kQualityBins);
}

void BatchFigures::absorb(BatchFigures& batch) {
  const auto move = [](std::int64_t* to, std::int64_t* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] += from[i];
      from[i] = 0;
    }
  };
  move(lengths_.data(), batch.lengths_.data(), lengths_.size());
  move(identity_.data(), batch.identity_.data(), identity_.size());
  move(quality_.data(), batch.quality_.data(), quality_.size());
  move(sums_, batch.sums_, kSums);
  batch.targets.clear();
  batch.begins.clear();
  batch.ends.clear();
  batch.target_ = -1;  // the name is that of a batch which may be gone
}

void BatchFigures::add_query(std::int64_t length) {
  ++sums_[kReads];
  ++bin(kQueryLengths, length);
  bin(kQueryBases, length) += length;
}

// Adds the alignment that counts for a read or pair.
void BatchFigures::add_aligned(const Record& r) {
  ++sums_[kAligned];
  sums_[kAlignedBases] += r.span[1] - r.span[0];
  sums_[kClippedBases] += r.before() + r.after();
  if (r.score < 0)
    ++bin(kCosts, -std::int64_t{r.score});
  else
    ++bin(kScores, r.score);
  if (const std::int64_t columns = r.w.columns())
    ++identity_[identity_bin(r.w.matches, columns)];
  else
    ++sums_[kEmpty];
}

void BatchFigures::add_gaps(const SamAlignment& w) {
  if (!w.gaps) return;
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const auto operation = static_cast<Op>(w.cigar[i] & 15);
    if (operation == kInsertion)
      ++bin(kInsertions, w.cigar[i] >> 4);
    else if (operation == kDeletion)
      ++bin(kDeletions, w.cigar[i] >> 4);
  }
}

void BatchFigures::add_place(const Record& r) {
  const std::string_view name = r.batch.target_name(r.i);
  if (target_ < 0 || name != name_) {
    target_ = reference_->find(name);
    name_ = name;
  }
  targets.push(target_);
  begins.push(r.target_beg());
  ends.push(r.target_end());
}

void BatchFigures::add_pair(const Record& r) {
  add_query(r.query_len());
  ++bin(kTargetLengths, r.target_len());
  if (!r.aligned) {
    sums_[kUnalignedBases] += r.query_len();
    return;
  }
  add_aligned(r);
  add_gaps(r.w);
}

void BatchFigures::add_mapped(const Record& r) {
  const std::int32_t flags = r.place.flags;
  if (flags & kSecondary) return;
  const bool supplementary = flags & kSupplementary, mapped = !(flags & kUnmapped);
  if (!supplementary) {
    add_query(r.read_len());
    sums_[kPairedReads] += (flags & kPaired) != 0;
    sums_[kProperReads] += mapped && (flags & kProper);
  }
  if (!mapped) {
    sums_[kUnalignedBases] += r.read_len();
    return;
  }
  if (!supplementary) {
    add_aligned(r);
    ++quality_[static_cast<std::size_t>(r.place.mapq)];
    if (flags & kProper && flags & kFirstMate && r.place.fields)
      ++bin(kTemplates, std::abs(r.place.fields->template_length));
  }
  add_gaps(r.w);
  if (reference_) add_place(r);
}

}  // namespace wfacli
