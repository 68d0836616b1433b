// Inner loop of the CPU engine for substitution matrices: align rows of a batch with the sw kernels.
#pragma once

#include "engine/engine.hpp"
#include "kernels/sw/sw.hpp"

namespace wfacli {

// Alignment mode; same values as wfacli.scoring.spec.ExtendMode.
enum class ExtendMode : std::uint8_t { Local, Extension, Semiglobal, Global };

// The kernel for pairs; results do not depend on it.
enum class SwChoice : std::uint8_t { Fastest, Lanes, Strips };

constexpr std::uint8_t kNoCode = 255;  // code of a symbol without scores in the scheme

// What to compute; filled by wfacli.engines.extend_cpu.
struct ExtendOptions {
  SwScheme scheme;
  std::uint8_t codes[256];  // code of each byte of a sequence, or kNoCode
  ExtendMode mode = ExtendMode::Local;
  bool path = true;  // compute the CIGAR
  bool second_best = false;
  SwHeuristics heuristics;       // heuristics of Extension; Global supports the band only
  std::size_t memory_bytes = 0;  // bound on the memory for the traceback of one pair
  SwChoice choice = SwChoice::Fastest;
  bool wide = false;  // 32-bit scores for all pairs
};

// Return a scheme for the kernels.
//
// `matrix`: [num_codes][num_codes], scores of a query code (row) and a target code (column). `same`: [num_codes],
// whether a code aligned with itself is written as = (else X). A gap of l symbols costs open + l * extend. Throws
// std::invalid_argument.
SwScheme sw_scheme(const std::int8_t* matrix, std::int32_t num_codes, const std::uint8_t* same, std::int32_t open,
                   std::int32_t extend);

// Return the first row with a symbol that has no code, or -1; store that symbol in `symbol`.
std::int64_t first_uncoded(const BatchView& batch, const std::uint8_t* codes, std::uint8_t* symbol);

// The kernels and the memory of one thread; not thread-safe.
class Extender {
 public:
  // `isa`: see kernels_named. Throws std::invalid_argument.
  explicit Extender(const std::string& isa);

  const char* isa() const { return isa_; }
  // Align `count` rows and append their results to `out`. A pair with a symbol that has no code is Unsupported.
  void align(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const ExtendOptions& options,
             const CancelFlag& cancelled, AlignedRows& out);

 private:
  // A part of a pair to align. Every pair has one piece; the search for second best scores uses two per pair.
  struct Piece {
    explicit Piece(const PairView& view) : pair(view) {}
    PairView pair;
    SwPair coded = {};
    SwAnswer answer;
    bool plain = false, coded_all = true;
    bool heuristic_applied = false;  // a heuristic left cells out
  };

  void align_some(const BatchView& batch, const std::int32_t* rows, std::int64_t count, AlignedRows& out);
  void add_row(const PairView& pair, std::size_t piece, AlignedRows& out);
  void find_second_best(const BatchView& batch, const std::int32_t* rows, std::int64_t count, const AlignedRows& found,
                        std::size_t first, AlignedRows& out);

  // Align all pieces under a rule. Sequences are reversed unless `forward`.
  void solve(SwRule rule, bool path, bool forward);
  void encode(bool forward);
  void solve_empty(Piece& piece, SwRule rule, bool path);
  void solve_with_heuristics(SwRule rule, bool path);
  void solve_piece_with_heuristics(Piece& piece, int bits, SwRule rule, bool path);
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
  std::int32_t narrow_tried_ = 0, narrow_failed_ = 0;  // pairs tried in 8-bit lanes, and those that overflowed them
};

}  // namespace wfacli
