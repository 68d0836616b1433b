// Figures of a run for its report: histograms over the written records, and where alignments lie on the reference.
#pragma once

#include <string_view>

#include "base/buffer.hpp"
#include "base/types.hpp"

namespace wfacli {

class Reference;
struct Record;
struct SamAlignment;

// Bins of lengths: one per length below kExactLengths, then 64 per doubling, up to 2^31.
inline constexpr std::int64_t kExactLengths = 1024, kBinsPerDoubling = 64;
inline constexpr std::int64_t kLengthBins = kExactLengths + 21 * kBinsPerDoubling;
// Bins of identities: matches per column in steps of 0.01%, rounded down; the last bin has identities of exactly 1.
inline constexpr std::int64_t kIdentityBins = 10001;
inline constexpr std::int64_t kQualityBins = 256;

// Returns the bin of a length, which is not negative.
std::int64_t length_bin(std::int64_t length);

// Figures of one batch, or of all. Of mapped reads, each read counts once, by its primary or unmapped record; supplementary
// records add their gaps and their place on the reference, and secondary records nothing.
class BatchFigures {
 public:
  // `reference`: the sequences to which reads are mapped; null for pairs, which have no places.
  explicit BatchFigures(const Reference* reference);

  void add_pair(const Record& record);
  // Adds a written record of a mapped read.
  void add_mapped(const Record& record);
  // Adds the figures of a batch, without its places, and clears the batch for another one.
  void absorb(BatchFigures& batch);

  enum Histogram {
    kQueryLengths,    // reads, or queries
    kQueryBases,      // the bases of these, in the bins of their lengths
    kTargetLengths,   // pairs only
    kInsertions,      // by length
    kDeletions,
    kTemplates,       // TLEN of properly paired reads, once per pair
    kScores,          // scores of at least 0
    kCosts,           // negative scores, by their absolute values
    kLengthHistograms
  };
  enum Sum {
    kReads,          // reads with a record, or pairs
    kAligned,        // of these: mapped, or with an alignment
    kEmpty,          // of these: alignments without columns, which have no identity
    kAlignedBases,   // bases of reads or queries within the alignment that counts for them
    kClippedBases,   // their other bases
    kUnalignedBases,  // bases of reads or queries without an alignment
    kPairedReads,    // reads that have a mate
    kProperReads,    // of these: mapped, and properly paired according to the mapper
    kSums
  };

  std::int64_t* histogram(int which) { return lengths_.data() + which * kLengthBins; }
  std::int64_t* identity() { return identity_.data(); }
  std::int64_t* quality() { return quality_.data(); }
  std::int64_t* sums() { return sums_; }
  // Places of primary and supplementary alignments: index of the target, and its aligned part, half open.
  Buffer<std::int32_t> targets;
  Buffer<std::int64_t> begins, ends;

 private:
  std::int64_t& bin(Histogram which, std::int64_t length) { return histogram(which)[length_bin(length)]; }
  void add_query(std::int64_t length);
  void add_aligned(const Record& record);
  void add_gaps(const SamAlignment& alignment);
  void add_place(const Record& record);

  const Reference* reference_;
  Buffer<std::int64_t> lengths_, identity_, quality_;
  std::int64_t sums_[kSums] = {};
  std::string_view name_;  // of the target found last
  std::int32_t target_ = -1;
};

}  // namespace wfacli
