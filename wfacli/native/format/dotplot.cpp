// Partitioned sort-merge join: k-mers of both sequences are partitioned by the top bits of a hashed key, each
// partition is sorted in the CPU cache, and the partitions are merged. An entry is the rest of the key, then the
// strand, then the pixel, so that it fits 64 bits wherever the k-mer lies, and equal k-mers in one pixel are counted
// together.
#include "format/dotplot.hpp"

#include <algorithm>
#include <bit>

#include "base/symbols.hpp"

namespace wfacli {
namespace {

constexpr int kPlaceBits = 15;  // low bits of an entry: the strand, and a pixel below kMaxPixels
constexpr std::uint64_t kPositionMask = (1u << kPlaceBits) - 1;
constexpr std::uint64_t kStrand = 1u << (kPlaceBits - 1);
constexpr std::int64_t kPartEntries = 4096;  // average entries per partition; both sides and a copy fit a core's cache
constexpr int kMaxPartBits = 12;
constexpr std::int64_t kChunk = 1 << 24;  // symbols between calls of `poll`
constexpr int kBucketBits = 10;

struct Kmer {
  std::uint64_t key;    // hash; its top 49 bits, and those of sampling and partition, are compared
  std::int64_t start;
  bool reverse;         // the key is that of the reverse complement
  bool palindrome;      // the k-mer is its own reverse complement
};

std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

// Bijective hash of a k-mer, packed with two bits per base; the result is in the highest bits of the key.
class NucleotideKeys {
 public:
  explicit NucleotideKeys(int k) : k_(k), mask_(k == 32 ? ~0ull : (1ull << 2 * k) - 1) {}

  std::uint64_t operator()(std::uint64_t kmer) const {
    kmer = kmer * 0x9e3779b97f4a7c15u & mask_;
    kmer ^= kmer >> k_;
    kmer = kmer * 0xd6e8feb86659fd93u & mask_;
    kmer ^= kmer >> k_;
    return kmer << (64 - 2 * k_);
  }
  std::uint64_t mask() const { return mask_; }

 private:
  int k_;
  std::uint64_t mask_;
};

template <class Visit>
void each_nucleotide_kmer(const std::uint8_t* symbols, std::int64_t begin, std::int64_t end, int k, Visit&& visit) {
  const NucleotideKeys keys(k);
  const int top = 2 * (k - 1);
  std::uint64_t forward = 0, backward = 0;
  std::int64_t run = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint64_t base = kSymbols.base[symbols[i]];
    if (!base) {
      run = 0;
      continue;
    }
    forward = (forward << 2 | (base - 1)) & keys.mask();
    backward = backward >> 2 | (4 - base) << top;
    if (++run < k) continue;
    visit(Kmer{keys(std::min(forward, backward)), i - k + 1, backward < forward, backward == forward});
  }
}

// Visits all k-mers with a rolling hash.
template <class Symbol, class Visit>
void each_literal_kmer(const Symbol* symbols, std::int64_t begin, std::int64_t end, int k, Visit&& visit) {
  constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15u;
  std::uint64_t gone = 1, hash = 0;
  for (int i = 0; i < k; ++i) gone *= kBase;
  for (std::int64_t i = begin; i < end; ++i) {
    hash = hash * kBase + mix64(symbols[i] + 1ull);
    if (i - begin >= k) hash -= gone * mix64(symbols[i - k] + 1ull);
    if (i - begin >= k - 1) visit(Kmer{mix64(hash), i - k + 1, false, false});
  }
}

template <class Symbol, class Visit>
void each_kmer(const DotSequence<Symbol>& sequence, const DotOptions& options, const std::function<void()>& poll,
               Visit&& visit) {
  for (std::int64_t r = 0; r < sequence.records; ++r) {
    const std::int64_t end = sequence.starts[r + 1];
    for (std::int64_t begin = sequence.starts[r]; begin < end; begin += kChunk) {
      poll();
      const std::int64_t chunk_end = std::min(end, begin + kChunk + options.k - 1);
      if constexpr (sizeof(Symbol) == 1) {
        if (!options.literal) {
          each_nucleotide_kmer(sequence.symbols, begin, chunk_end, options.k, visit);
          continue;
        }
      }
      each_literal_kmer(sequence.symbols, begin, chunk_end, options.k, visit);
    }
  }
}

// Sampled k-mers of a sequence, partitioned by the top bits of their keys.
struct Parts {
  Buffer<std::uint64_t> entries;
  Buffer<std::int64_t> first;  // start of each partition, i64[2^bits + 1]

  std::int64_t size(std::size_t part) const { return first[part + 1] - first[part]; }
};

// Partitions the k-mers of a sequence. A palindrome matches on both strands, so one of the two sequences must enter it
// twice.
template <class Symbol>
Parts parts_of(const DotSequence<Symbol>& sequence, const DotOptions& options, std::int32_t pixels, int bits,
               bool palindromes_twice, const std::function<void()>& poll) {
  const std::size_t count = std::size_t{1} << bits;
  const std::uint64_t out = options.sampled ? ~0ull << (64 - options.sampled) : 0;
  const auto part_of = [&](std::uint64_t key) { return bits ? key << options.sampled >> (64 - bits) : 0; };
  Parts parts;
  parts.first.resize(count + 1);
  std::fill_n(parts.first.data(), count + 1, 0);
  each_kmer(sequence, options, poll, [&](const Kmer& kmer) {
    if (!(kmer.key & out)) parts.first[part_of(kmer.key) + 1] += 1 + (kmer.palindrome && palindromes_twice);
  });
  for (std::size_t p = 0; p < count; ++p) parts.first[p + 1] += parts.first[p];
  parts.entries.resize(static_cast<std::size_t>(parts.first[count]));
  Buffer<std::int64_t> next;
  next.append(parts.first.data(), count);
  const std::uint64_t length = static_cast<std::uint64_t>(std::max<std::int64_t>(sequence.length(), 1));
  each_kmer(sequence, options, poll, [&](const Kmer& kmer) {
    if (kmer.key & out) return;
    const std::uint64_t middle = static_cast<std::uint64_t>(kmer.start + options.k / 2);
    const std::uint64_t place = middle * static_cast<std::uint64_t>(pixels) / length | (kmer.reverse ? kStrand : 0);
    std::int64_t& at = next[part_of(kmer.key)];
    const std::uint64_t entry = (kmer.key << (options.sampled + bits) & ~kPositionMask) | place;
    parts.entries[at++] = entry;
    if (kmer.palindrome && palindromes_twice) parts.entries[at++] = entry ^ kStrand;
  });
  return parts;
}

// Sorts a partition: one bucket pass on the top bits, then std::sort within buckets.
void sort_part(std::uint64_t* entries, std::int64_t count, Buffer<std::uint64_t>& copy) {
  if (count < 256) {
    std::sort(entries, entries + count);
    return;
  }
  std::int64_t ends[1 << kBucketBits] = {};
  const auto bucket_of = [](std::uint64_t entry) { return entry >> (64 - kBucketBits); };
  for (std::int64_t i = 0; i < count; ++i) ++ends[bucket_of(entries[i])];
  std::int64_t sum = 0;
  for (std::int64_t& end : ends) end = std::exchange(sum, sum + end);
  copy.clear();
  copy.append(entries, static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) entries[ends[bucket_of(copy[i])]++] = copy[i];
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    if (end - begin > 1) std::sort(entries + begin, entries + end);
    begin = end;
  }
}

// Number of equal k-mers in one pixel on one strand.
struct Cell {
  std::uint64_t place;
  std::uint64_t count;
};

// Collects the cells of the entries from `at` on that share its key, and advances `at` past them.
void take_cells(const std::uint64_t*& at, const std::uint64_t* end, Buffer<Cell>& cells) {
  const std::uint64_t key = *at >> kPlaceBits;
  cells.clear();
  for (; at != end && *at >> kPlaceBits == key; ++at) {
    const std::uint64_t place = *at & kPositionMask;
    if (!cells.empty() && cells.back().place == place)
      ++cells.back().count;
    else
      cells.push({place, 1});
  }
}

class Picture {
 public:
  Picture(const DotOptions& options, DotCounts& counts) : options_(options), counts_(counts) {
    const std::size_t pixels = static_cast<std::size_t>(options.rows) * static_cast<std::size_t>(options.columns);
    for (Buffer<std::uint32_t>* strand : {&counts.forward, &counts.reverse}) {
      strand->resize(pixels);
      std::fill_n(strand->data(), pixels, 0);
    }
  }

  // Counts the k-mers that two sorted partitions share.
  void merge(const std::uint64_t* q, const std::uint64_t* q_end, const std::uint64_t* t, const std::uint64_t* t_end) {
    while (q != q_end && t != t_end) {
      const std::uint64_t a = *q >> kPlaceBits, b = *t >> kPlaceBits;
      if (a < b) {
        ++q;
      } else if (b < a) {
        ++t;
      } else {
        take_cells(q, q_end, query_);
        take_cells(t, t_end, target_);
        ++counts_.shared;
        const bool query_thinned = thinned(query_), target_thinned = thinned(target_);
        counts_.thinned += query_thinned || target_thinned;
        count_all();
      }
    }
  }

 private:
  // Keeps at most `max_pixels` cells, evenly spaced; returns true if there were more.
  bool thinned(Buffer<Cell>& cells) const {
    const std::size_t max_pixels = static_cast<std::size_t>(options_.max_pixels);
    if (cells.size() <= max_pixels) return false;
    for (std::size_t i = 0; i < max_pixels; ++i) cells[i] = cells[i * cells.size() / max_pixels];
    cells.resize(max_pixels);
    return true;
  }

  void count_all() {
    for (std::size_t i = 0; i < query_.size(); ++i) {
      const Cell& q = query_[i];
      const std::size_t row = static_cast<std::size_t>(q.place & (kStrand - 1)) * options_.columns;
      for (std::size_t j = 0; j < target_.size(); ++j) {
        const Cell& t = target_[j];
        Buffer<std::uint32_t>& strand = (q.place ^ t.place) & kStrand ? counts_.reverse : counts_.forward;
        std::uint32_t& pixel = strand[row + (t.place & (kStrand - 1))];
        pixel = static_cast<std::uint32_t>(std::min<std::uint64_t>(pixel + q.count * t.count, UINT32_MAX));
      }
    }
  }

  const DotOptions& options_;
  DotCounts& counts_;
  Buffer<Cell> query_, target_;
};

}  // namespace

template <class Symbol>
DotCounts dot_counts(const DotSequence<Symbol>& query, const DotSequence<Symbol>& target, const DotOptions& options,
                     const std::function<void()>& poll) {
  DotCounts counts;
  Picture picture(options, counts);
  const std::int64_t likely = std::max(query.length(), target.length()) >> options.sampled;
  const int bits = std::clamp<int>(std::bit_width(static_cast<std::uint64_t>(likely / kPartEntries)), 0, kMaxPartBits);
  Parts of_query = parts_of(query, options, options.rows, bits, true, poll);
  Parts of_target = parts_of(target, options, options.columns, bits, false, poll);
  counts.query_kmers = static_cast<std::int64_t>(of_query.entries.size());
  counts.target_kmers = static_cast<std::int64_t>(of_target.entries.size());
  Buffer<std::uint64_t> copy;
  for (std::size_t p = 0; p < std::size_t{1} << bits; ++p) {
    if (p % 64 == 0) poll();
    std::uint64_t *q = of_query.entries.data() + of_query.first[p], *t = of_target.entries.data() + of_target.first[p];
    sort_part(q, of_query.size(p), copy);
    sort_part(t, of_target.size(p), copy);
    picture.merge(q, q + of_query.size(p), t, t + of_target.size(p));
  }
  return counts;
}

template DotCounts dot_counts(const DotSequence<std::uint8_t>&, const DotSequence<std::uint8_t>&, const DotOptions&,
                              const std::function<void()>&);
template DotCounts dot_counts(const DotSequence<std::uint32_t>&, const DotSequence<std::uint32_t>&, const DotOptions&,
                              const std::function<void()>&);

}  // namespace wfacli
