// What kernels with a pair in each lane keep of a cell, and the way back through it.
//
// Each cell keeps one byte. Its lower bits are 0 where the path comes from a mismatch, x + 1 where it comes from gap x
// (insertions first), and otherwise tell how many cells in a row, up to this one, come from matches alone; so the way
// back takes a run of matches in one step. Its upper bits, one a gap: the gap must go on.
#pragma once

#include "kernels/bits/bits_runs.hpp"
#include "kernels/difference/difference_letters.hpp"
#include "kernels/difference/difference_rows.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Bytes from a line's begin on; what was there is lost.
WFACLI_INLINE std::uint8_t* aligned_bytes(Buffer<std::uint8_t>& buffer, std::size_t bytes) {
  buffer.clear();
  buffer.reserve(bytes + 64);
  return buffer.data() + ((64 - (reinterpret_cast<std::uintptr_t>(buffer.data()) & 63)) & 63);
}

// Reads that share a vector, and vectors that take their letters; the query of lane l is `shift[l]` vectors further on.
struct Lot {
  const DifferenceMemory::Read* reads;
  std::int32_t count;  // lanes without a read do as the first
  std::int32_t query_vectors, target_vectors;
  const std::int32_t* shift;
};

// Their reversed letters, a pair in each lane.
struct LanesText {
  std::uint8_t *query = nullptr, *target = nullptr;

  void fill(const ReadsTask& task, const Lot& lot, Buffer<std::uint8_t>& memory) {
    constexpr std::int32_t kLanes = kVectorBytes;
    const std::int32_t q_count = (lot.query_vectors + 15) / 16 * 16, t_count = (lot.target_vectors + 15) / 16 * 16;
    query = aligned_bytes(memory, static_cast<std::size_t>(q_count + t_count) * kLanes);
    target = query + static_cast<std::size_t>(q_count) * kLanes;
    Strand queries[kLanes], targets[kLanes];
    LettersV masks;
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

// Sorts by keys of 18 bits, in two passes over buckets; equals stay in their order. `spare` is memory for it.
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

  static constexpr unsigned kGaps = S::kPlanes;  // ways that gaps can come from
  static constexpr int kFlags = 2 * P;           // upper bits: which of them must go on
  static constexpr unsigned kSources = 255u >> kFlags;
  static constexpr unsigned kUpper = 255u - kSources;
  static constexpr std::int32_t kNoRun = kUpper + kGaps;  // one more is a run of one match

  // Where a path meets the first row or the first column.
  struct Edge {
    std::int32_t i, j;
  };

  // Writes the path from (i, j) to an edge; `at(i, j)` is what the cell keeps.
  template <class At>
  static WFACLI_INLINE Edge back(std::int32_t i, std::int32_t j, const At& at, RunWriter& runs) {
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
        const std::int32_t letters = gap(i, j, static_cast<int>(from) - 1, at);
        runs.add(insertion ? kInsertion : kDeletion, letters);
        (insertion ? i : j) -= letters;
      }
    }
    runs.matches(matches);
    return {i, j};
  }

  // Keeps where the cell's path comes from. Returns its run, with the upper bits set; `run` is that of the cell before
  // it on the diagonal.
  static WFACLI_INLINE Vector source(const Step<S>& step, const std::uint8_t* q, const std::uint8_t* t, Vector run,
                                     Vector u, Vector v, const Vector* a, const Vector* b, std::uint8_t* to) {
    const Vector least = L::all(kNoRun);
    run = L::one_more(run > least ? run : least);
    run = L::compared(q, t, run, L::all(kUpper), false);
    if constexpr (P == 0) {
      run = v == 0 ? L::all(kUpper + 2) : run;
      run = u == 0 ? L::all(kUpper + 1) : run;
    }
    for (int g = P - 1; g >= 0; --g)
      run = (step.opens_freely[g] ? v : b[g]) == none(step, g) ? L::all(kUpper + P + 1 + g) : run;
    for (int g = P - 1; g >= 0; --g)
      run = (step.opens_freely[g] ? u : a[g]) == none(step, g) ? L::all(kUpper + 1 + g) : run;
    // What is less than full has its top bit set once full is taken away.
    Vector kept = run;
    for (int g = 0; g < P; ++g) {
      kept = L::choose(kept, L::shifted(a[g] - step.full[g], g), L::all(0x80 >> g));
      kept = L::choose(kept, L::shifted(b[g] - step.full[g], P + g), L::all(0x80 >> (P + g)));
    }
    L::store(reinterpret_cast<Lane*>(to), kept);
    return run;
  }

 private:
  // Letters of gap x that ends in cell (i, j); without opening costs each is a gap of its own.
  template <class At>
  static WFACLI_INLINE std::int32_t gap(std::int32_t i, std::int32_t j, int x, const At& at) {
    std::int32_t letters = 1;
    if constexpr (P > 0) {
      const bool insertion = x < P;
      for (;; ++letters) {
        (insertion ? i : j) -= 1;
        if (i == 0 || j == 0 || !(at(i, j) & (0x80u >> x))) break;
      }
    }
    return letters;
  }
  static WFACLI_INLINE Vector none(const Step<S>& step, int g) { return g ? step.between : Vector{}; }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
