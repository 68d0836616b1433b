// Simulator of reads with sequencing errors. The same seed gives the same bytes on every machine.
//
// Probabilities are fixed-point and sampling is integer arithmetic, since floating point may differ between machines.
// Each pair has its own generator, seeded by the run's seed and the pair's number, so that any thread may make any
// pair.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hashing.hpp"
#include "io/reference.hpp"
#include "base/text.hpp"
#include "format/sam_alignment.hpp"

namespace wfacli {

inline constexpr int kErrorPlaces = 64;  // sections of a read, each with its own error rate
inline constexpr int kReadKinds = 16;    // quality classes of reads, equally frequent

// Error model of a sequencer. Probabilities are in units of 2^-32.
struct ErrorModel {
  std::array<std::uint32_t, kReadKinds * kErrorPlaces> error_rate;  // error rate per base, by class and section
  std::array<std::uint8_t, kReadKinds * kErrorPlaces> phred;    // the corresponding Phred quality, 0 to 93
  bool uniform;                                                 // all sections of a read have the same rate
  std::uint32_t mismatch;                                       // probability that an error is a mismatch,
  std::uint32_t insertion;                                      // of a mismatch or insertion; otherwise: deletion
  std::uint32_t extension;  // probability that a gap is extended by another base, repeatedly
  std::uint32_t runs;    // probability that a gap is deferred to a base that repeats the one before
};

enum class PairFormat { Fasta, Fastq, Seq, Table };

struct SimulationOptions {
  std::uint64_t seed;
  std::int64_t min_length, max_length;  // length of targets in bases, uniform between these
  PairFormat format;
  bool truth;  // write the true alignments
  // Paired-end reads: mean and standard deviation of the insert size, in bases between the outer ends of the mates. 0:
  // no mates; each pair is a target and the read simulated from it.
  std::int64_t insert = 0, insert_deviation = 0;
  bool interleaved = false;  // both mates go to one file

  bool mates() const { return insert > 0; }
  // Maximum length of a window drawn from the reference, in bases.
  std::int64_t max_window() const {
    return mates() ? std::max(max_length, insert + kDeviations * insert_deviation) : max_length;
  }
  static constexpr std::int64_t kDeviations = 6;  // standard deviations at which insert sizes are clamped
};

// Output text for some pairs. Formats with a single file use `query` only; second mates are in `target`.
struct SimulatedText {
  Text query, target, truth;
  std::int64_t bases = 0, edits = 0;
};

// Random number generator splitmix64 (Steele, Lea and Flood 2014): a hashed counter.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream)
      : counter_(mix64(mix64(seed + kStep) + (stream + 1) * 0xd1342543de82ef95ull)) {}

  std::uint64_t word() { return mix64(counter_ += kStep); }
  std::uint32_t half() { return static_cast<std::uint32_t>(word() >> 32); }
  // Returns true with this probability.
  bool bernoulli(std::uint32_t probability) { return half() < probability; }
  // Returns the first of `bases` positions at which an event with this probability happens, or `bases`.
  std::int64_t first(std::uint32_t probability, std::int64_t bases) {
    std::int64_t at = 0;
    while (at < bases && !bernoulli(probability)) ++at;
    return at;
  }
  // Returns a uniform integer in [0, n).
  std::int64_t uniform(std::int64_t n) {
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(word()) * static_cast<std::uint64_t>(n)) >> 64);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;

  std::uint64_t counter_;
};

// Simulator of pairs; use one per thread.
class Simulator {
 public:
  // Targets are windows of the reference, or random if it is null. Throws std::invalid_argument if no sequence of the
  // reference is as long as the longest window.
  Simulator(const ErrorModel& model, const SimulationOptions& options, const Reference* reference);

  // Appends pairs [first, first + count). Throws std::runtime_error if no window with only A C G T is found.
  void make(std::int64_t first, std::int64_t count, SimulatedText& out);

 private:
  // A deferred insertion or deletion.
  struct Gap {
    Op op = kMatch;           // kMatch: none
    std::int64_t until = -1;  // position at which the gap opens at the latest, repeat or not
  };

  void draw_target(Random& random, std::int64_t length);
  void draw_window(Random& random, std::int64_t length);
  void read_target(Random& random);
  void copy(std::int64_t from, std::int64_t to);
  void add_mismatch(Random& random, std::uint8_t base);
  std::int64_t open_gap(Random& random, Op op, std::int64_t at, bool same);
  std::int64_t add_error(Random& random, Gap& waiting, std::int64_t at);
  bool repeats(std::int64_t at) const;
  Pen name(Pen pen, std::int64_t number) const;
  Pen place(Pen pen) const;
  void write(std::int64_t number, SimulatedText& out);
  void write_target(std::int64_t number, std::string_view target, Text& to) const;
  void write_truth(std::int64_t number, const SamAlignment& w, Text& to) const;
  std::int64_t draw_insert(Random& random) const;
  void make_mates(Random& random, std::int64_t number, SimulatedText& out);
  void take_mate(int mate, std::int64_t length);
  void write_mate(int mate, SimulatedText& out) const;
  void write_mate_truth(int mate, const SamAlignment& w, Text& to);

  const ErrorModel& model_;
  const SimulationOptions options_;
  const Reference* reference_;
  std::vector<std::int32_t> usable_;  // sequences of the reference that are long enough
  std::vector<std::int64_t> ends_;    // cumulative number of window starts in them
  Buffer<std::uint8_t> target_, query_, phred_;
  Cigar cigar_;
  // Paired-end reads: the fragment on the forward strand, the name of the pair, and both mates.
  Buffer<std::uint8_t> fragment_;
  std::string name_;
  struct Mate {
    Buffer<std::uint8_t> bases, phred;
    std::vector<std::uint32_t> runs;
    std::int64_t begin = 0, end = 0;  // in the reference sequence
    bool reverse = false;
  } mates_[2];
  bool reverse_ = false;       // the first mate is from the reverse strand
  std::int32_t sequence_ = 0;  // index of the reference sequence that contains the target
  std::int64_t start_ = 0;
  int phred_here_ = 0;
};

}  // namespace wfacli
