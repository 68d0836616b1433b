// Pairs of sequences that differ by errors of sequencing, the same bytes on every machine for the same seed.
//
// Chances are integers, and drawing is integer arithmetic, since floating point may differ between machines. Each pair
// has a generator of its own, seeded by the run's seed and the pair's number: any thread may make any pair.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hashing.hpp"
#include "io/reference.hpp"
#include "base/text.hpp"
#include "format/written.hpp"

namespace wfacli {

inline constexpr int kErrorPlaces = 64;  // parts of a read, with chances of their own
inline constexpr int kReadKinds = 16;    // reads are of so many qualities, all as frequent

// What goes wrong when a target is read. Chances are in 2^-32.
struct ErrorModel {
  std::array<std::uint32_t, kReadKinds * kErrorPlaces> chance;  // that there is an error at a letter of the target
  std::array<std::uint8_t, kReadKinds * kErrorPlaces> phred;    // the quality that says so, 0 to 93
  bool even;                                                    // all places of a read have the same
  std::uint32_t mismatch;                                       // that an error is one,
  std::uint32_t insertion;                                      // or an insertion; else it is a deletion
  std::uint32_t longer;  // that a gap has a further letter, and again
  std::uint32_t runs;    // that a gap waits for a letter that repeats the one before
};

enum class PairFormat { Fasta, Fastq, Seq, Table };

struct SimulationOptions {
  std::uint64_t seed;
  std::int64_t shortest, longest;  // letters of a target; all lengths between are as frequent
  PairFormat format;
  bool truth;  // whether the true alignments are wanted
  // Pairs of reads: letters from the outer end of one to that of the other, in the mean, and their standard deviation. 0: one
  // target a pair, with what is read of it.
  std::int64_t insert = 0, insert_deviation = 0;
  bool interleaved = false;  // both reads of a pair go to one file

  bool mates() const { return insert > 0; }
  // The most letters of the reference that are drawn at once.
  std::int64_t longest_window() const {
    return mates() ? std::max(longest, insert + kDeviations * insert_deviation) : longest;
  }
  static constexpr std::int64_t kDeviations = 6;  // beyond which no insert lies
};

// What is written of some pairs. One file of pairs has all in `query`; of pairs of reads the second ones are in `target`.
struct SimulatedText {
  Text query, target, truth;
  std::int64_t letters = 0, edits = 0;
};

// The generator splitmix64 (Steele, Lea and Flood 2014): a counter, mixed.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream)
      : counter_(mixed(mixed(seed + kStep) + (stream + 1) * 0xd1342543de82ef95ull)) {}

  std::uint64_t word() { return mixed(counter_ += kStep); }
  std::uint32_t half() { return static_cast<std::uint32_t>(word() >> 32); }
  // Whether something with this chance happens.
  bool happens(std::uint32_t chance) { return half() < chance; }
  // The first of `letters` letters at which something with this chance happens, or `letters`.
  std::int64_t first(std::uint32_t chance, std::int64_t letters) {
    std::int64_t at = 0;
    while (at < letters && !happens(chance)) ++at;
    return at;
  }
  // 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(word()) * static_cast<std::uint64_t>(n)) >> 64);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;

  std::uint64_t counter_;
};

// Of one thread.
class Simulator {
 public:
  // Targets are windows of the reference, or random where it is null. Throws std::invalid_argument where no sequence of
  // the reference is as long as the longest target.
  Simulator(const ErrorModel& model, const SimulationOptions& options, const Reference* reference);

  // Adds pairs first to first + count - 1. Throws std::runtime_error where no window of A C G T alone is found.
  void make(std::int64_t first, std::int64_t count, SimulatedText& out);

 private:
  // An insertion or a deletion.
  struct Gap {
    Op op = kMatch;           // kMatch: none
    std::int64_t until = -1;  // the last letter before which it waits for a repeat
  };

  void draw_target(Draws& draws, std::int64_t length);
  void draw_window(Draws& draws, std::int64_t length);
  void read_target(Draws& draws);
  void copy(std::int64_t from, std::int64_t to);
  void add_wrong(Draws& draws, std::uint8_t letter);
  std::int64_t open_gap(Draws& draws, Op op, std::int64_t at, bool same);
  std::int64_t add_error(Draws& draws, Gap& waiting, std::int64_t at);
  bool repeats(std::int64_t at) const;
  Pen name(Pen pen, std::int64_t number) const;
  Pen place(Pen pen) const;
  void write(std::int64_t number, SimulatedText& out);
  void write_target(std::int64_t number, std::string_view target, Text& to) const;
  void write_truth(std::int64_t number, const Written& w, Text& to) const;
  std::int64_t draw_insert(Draws& draws) const;
  void make_mates(Draws& draws, std::int64_t number, SimulatedText& out);
  void take_mate(int mate, std::int64_t length);
  void write_mate(int mate, SimulatedText& out) const;
  void write_mate_truth(int mate, const Written& w, Text& to);

  const ErrorModel& model_;
  const SimulationOptions options_;
  const Reference* reference_;
  std::vector<std::int32_t> usable_;  // sequences of the reference that are long enough,
  std::vector<std::int64_t> ends_;    // and where each ends if they lie one after another
  Buffer<std::uint8_t> target_, query_, phred_;
  Cigar cigar_;
  // Of a pair of reads: the letters between their outer ends, on the strand of the first; its name; how each was read.
  Buffer<std::uint8_t> fragment_;
  std::string name_;
  struct Mate {
    Buffer<std::uint8_t> letters, phred;
    std::vector<std::uint32_t> runs;
    std::int64_t begin = 0, end = 0;  // in the sequence of the reference
    bool reverse = false;
  } mates_[2];
  bool reverse_ = false;       // whether the first one is of the reverse strand
  std::int32_t sequence_ = 0;  // of the reference, in which the target lies
  std::int64_t start_ = 0;
  int phred_here_ = 0;
};

}  // namespace wfacli
