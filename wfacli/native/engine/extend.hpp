// The CPU engine's inner loop for alignment under any scores of letters: rows of a batch through the sw kernels.
#pragma once

#include "engine/engine.hpp"
#include "kernels/sw/sw.hpp"

namespace wfacli {

// wfacli.scoring.spec.ExtendMode.
enum class ExtendMode : std::uint8_t { Local, Extension, Semiglobal, Global };

// Which kernel gets pairs; the answers do not depend on it.
enum class SwChoice : std::uint8_t { Fastest, Lanes, Strips };

constexpr std::uint8_t kNoCode = 255;  // of a letter that a scheme has no scores for

// What to compute; wfacli.engines.extend_cpu fills it.
struct ExtendOptions {
  SwScheme scheme;
  std::uint8_t codes[256];  // of letters
  ExtendMode mode = ExtendMode::Local;
  bool path = true;
  bool second_best = false;
  SwCuts cuts;                   // of Extension, and a band of Global
  std::size_t memory_bytes = 0;  // bound on what is kept to find one pair's path
  SwChoice choice = SwChoice::Fastest;
  bool wide = false;  // 32 bits for all pairs
};

// A scheme as kernels have it: `letters` codes, scores row by row, and whether each code beside itself is written =.
// Throws std::invalid_argument.
SwScheme sw_scheme(const std::int8_t* matrix, std::int32_t letters, const std::uint8_t* same, std::int32_t open,
                   std::int32_t extend);

// The first row of a batch with a letter that has no code, or -1; `letter` gets it.
std::int64_t first_foreign(const BatchView& batch, const std::uint8_t* codes, std::uint8_t* letter);

// One thread's memory and kernels. Not safe for two threads at once.
class Extender {
 public:
  // `isa` is for kernels_named. Throws std::invalid_argument.
  explicit Extender(const std::string& isa);

  const char* isa() const { return isa_; }
  // Adds the rows' answers to `out`. Letters without a code make a pair Unsupported.
  void align(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const ExtendOptions& options,
             const CancelFlag& cancelled, AlignedRows& out);

 private:
  // Part of a pair that is to be solved. Every pair has one, and more where its path or second best asks for them.
  struct Piece {
    explicit Piece(const PairView& pair) : letters(pair) {}
    PairView letters;
    SwPair coded = {};
    SwAnswer answer;
    bool plain = false, coded_all = true;
    bool cut = false;  // a heuristic has left something out
  };

  void align_some(const BatchView& batch, const std::int32_t* rows, std::int64_t count, AlignedRows& out);
  void add_row(const PairView& pair, std::size_t piece, AlignedRows& out);
  void find_second_best(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignedRows& found,
                        std::size_t first, AlignedRows& out);

  // Solves all pieces under a rule: the last letters first unless they are `forward`.
  void solve(SwRule rule, bool path, bool forward);
  void encode(bool forward);
  void solve_empty(Piece& piece, SwRule rule, bool path);
  void solve_with_cuts(SwRule rule, bool path);
  void solve_cut(Piece& piece, int bits, SwRule rule, bool path);
  SwBand band_of(const Piece& piece) const;
  void solve_in(int bits, SwRule rule, bool path, Buffer<std::int32_t>& waiting);
  void solve_lanes(int bits, const SwTask& task, const std::int32_t* pieces, std::int32_t count);
  bool in_lanes(int bits, const SwTask& task, const std::int32_t* pieces, std::int32_t count) const;

  const char* isa_ = nullptr;
  SwKernels kernels_;
  SwMemory memory_;
  const ExtendOptions* options_ = nullptr;
  const CancelFlag* cancelled_ = nullptr;
  Buffer<Piece> pieces_;
  Buffer<std::uint8_t> codes_;
  Buffer<std::int32_t> order_, left_;
  std::int32_t narrow_tried_ = 0, narrow_failed_ = 0;  // pairs that lanes of 8 bits were tried for
};

}  // namespace wfacli
