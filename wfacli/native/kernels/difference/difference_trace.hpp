// Trace of kernels with one pair per lane, and the traceback through it.
//
// Each cell stores one byte. Its lower bits are 0 if the path comes from a mismatch, and x + 1 if it comes from gap x
// (insertions first). Any higher value is kGaps plus the number of consecutive matches up to this cell, so the
// traceback takes a run of matches in one step. The upper bits, one per gap, say that the gap must be extended.
#pragma once

#include "kernels/bits/bits_runs.hpp"
#include "kernels/difference/difference_symbols.hpp"
#include "kernels/difference/difference_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Returns `bytes` bytes from the start of a cache line. The previous content is lost.
WFACLI_INLINE std::uint8_t* aligned_bytes(Buffer<std::uint8_t>& buffer, std::size_t bytes) {
  buffer.clear();
  buffer.reserve(bytes + 64);
  return buffer.data() + ((64 - (reinterpret_cast<std::uintptr_t>(buffer.data()) & 63)) & 63);
}

// Reads that share a vector, and the numbers of vectors for their symbols. The query of lane l starts shift[l] vectors
// later.
struct ReadBatch {
  const DifferenceMemory::Read* reads;
  std::int32_t count;  // unused lanes repeat the first read
  std::int32_t query_vectors, target_vectors;
  const std::int32_t* shift;
};

// Reversed sequences of a ReadBatch, one pair per lane.
struct LanesText {
  std::uint8_t *query = nullptr, *target = nullptr;

  void fill(const ReadsTask& task, const ReadBatch& lot, Buffer<std::uint8_t>& memory) {
    constexpr std::int32_t kLanes = kVectorBytes;
    const std::int32_t q_count = (lot.query_vectors + 15) / 16 * 16, t_count = (lot.target_vectors + 15) / 16 * 16;
    query = aligned_bytes(memory, static_cast<std::size_t>(q_count + t_count) * kLanes);
    target = query + static_cast<std::size_t>(q_count) * kLanes;
    ReversedSequence queries[kLanes], targets[kLanes];
    SymbolsV masks;
    for (int l = 0; l < kLanes; ++l) {
      const std::int32_t pair = lot.reads[l < lot.count ? l : 0].pair;
      const PairView& p = task.pairs[pair];
      queries[l] = {p.query, p.query_len, lot.shift ? lot.shift[l] : 0};
      targets[l] = {p.target, p.target_len, 0};
      masks[l] = task.masks[pair];
    }
    lay_out(queries, masks, q_count, query);
    lay_out(targets, masks, t_count, target);
  }
};

// Sorts stably by 18-bit keys with two bucket passes. `spare` is scratch memory.
template <class Key>
WFACLI_INLINE void sort_reads(Buffer<DifferenceMemory::Read>& reads, Buffer<DifferenceMemory::Read>& spare,
                              const Key& key) {
  constexpr std::uint32_t kBuckets = 512;
  spare.resize(reads.size());
  for (int shift = 0; shift < 18; shift += 9) {
    std::int32_t first[kBuckets + 1] = {};
    for (std::size_t x = 0; x < reads.size(); ++x) ++first[(key(reads[x]) >> shift) % kBuckets + 1];
    for (std::uint32_t k = 1; k < kBuckets; ++k) first[k] += first[k - 1];
    for (std::size_t x = 0; x < reads.size(); ++x)
      spare[static_cast<std::size_t>(first[(key(reads[x]) >> shift) % kBuckets]++)] = reads[x];
    std::swap(reads, spare);
  }
}

template <int P>
struct Trace {
  using S = Scheme<P, std::int8_t, false>;
  using L = Lanes<std::int8_t>;
  using Lane = std::int8_t;
  using Vector = L::Vector;

  static constexpr unsigned kGaps = S::kPlanes;  // number of gap sources
  static constexpr int kFlags = 2 * P;           // number of upper bits, one per gap that must be extended
  static constexpr unsigned kSources = 255u >> kFlags;
  static constexpr unsigned kUpper = 255u - kSources;
  static constexpr std::int32_t kNoRun = kUpper + kGaps;  // the next value is a run of one match

  // Where a path reaches the first row or column.
  struct Edge {
    std::int32_t i, j;
  };

  // Writes the path from (i, j) to an edge; `at(i, j)` returns the byte of a cell.
  template <class At>
  static WFACLI_INLINE Edge trace_path(std::int32_t i, std::int32_t j, const At& at, RunWriter& runs) {
    std::int32_t matches = 0;
    while (i > 0 && j > 0) {
      const unsigned from = at(i, j) & kSources;
      if (from > kGaps) {
        const auto more = static_cast<std::int32_t>(from - kGaps);
        matches += more;
        i -= more;
        j -= more;
        continue;
      }
      runs.matches(matches);
      matches = 0;
      if (from == 0) {
        runs.add(kDifferent, 1);
        --i;
        --j;
      } else {
        const bool insertion = from <= kGaps / 2;
        const std::int32_t length = gap(i, j, static_cast<int>(from) - 1, at);
        runs.add(insertion ? kInsertion : kDeletion, length);
        (insertion ? i : j) -= length;
      }
    }
    runs.matches(matches);
    return {i, j};
  }

  // Stores where the cell's path comes from. `run` is the run of the previous cell on the diagonal. Returns the cell's
  // run with the upper bits set.
  static WFACLI_INLINE Vector source(const Step<S>& step, const std::uint8_t* q, const std::uint8_t* t, Vector run,
                                     Vector u, Vector v, const Vector* a, const Vector* b, std::uint8_t* to) {
    const Vector no_run = L::all(kNoRun);
    run = L::one_more(run > no_run ? run : no_run);
    run = L::compared(q, t, run, L::all(kUpper), L::all(kUpper), false);
    if constexpr (P == 0) {
      run = v == 0 ? L::all(kUpper + 2) : run;
      run = u == 0 ? L::all(kUpper + 1) : run;
    }
    for (int g = P - 1; g >= 0; --g)
      run = (step.opens_freely[g] ? v : b[g]) == none(step, g) ? L::all(kUpper + P + 1 + g) : run;
    for (int g = P - 1; g >= 0; --g)
      run = (step.opens_freely[g] ? u : a[g]) == none(step, g) ? L::all(kUpper + 1 + g) : run;
    // If a value is below full, the difference has its top bit set.
    Vector stored = run;
    for (int g = 0; g < P; ++g) {
      stored = L::choose(stored, L::shifted(a[g] - step.full[g], g), L::all(0x80 >> g));
      stored = L::choose(stored, L::shifted(b[g] - step.full[g], P + g), L::all(0x80 >> (P + g)));
    }
    L::store(reinterpret_cast<Lane*>(to), stored);
    return run;
  }

 private:
  // Returns the length of gap x that ends in cell (i, j). Without opening costs, each symbol is a gap of its own.
  template <class At>
  static WFACLI_INLINE std::int32_t gap(std::int32_t i, std::int32_t j, int x, const At& at) {
    std::int32_t length = 1;
    if constexpr (P > 0) {
      const bool insertion = x < P;
      for (;; ++length) {
        (insertion ? i : j) -= 1;
        if (i == 0 || j == 0 || !(at(i, j) & (0x80u >> x))) break;
      }
    }
    return length;
  }
  static WFACLI_INLINE Vector none(const Step<S>& step, int g) { return g ? step.between : Vector{}; }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
