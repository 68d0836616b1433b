// Several pairs per vector: each lane holds a band of 64 * W diagonals of its own pair, and all lanes compute one
// column per step. Included by bits_isa.cpp only; everything here exists once per instruction set.
//
// Bit-parallel columns: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
// programming", J. ACM 1999. Band that moves one row down per column: H. Hyyrö, "A bit-vector algorithm for computing
// Levenshtein and Damerau edit distances", Nordic J. Computing 2003.
//
// Coordinates: row i counts bases of the reversed query, column j bases of the reversed target. Bit b of column j is
// row j + b - origin, so a diagonal keeps its bit. Rows at and above 0 hold H(i, j) = j - i. The recurrence preserves
// that whatever bases it reads there, and row 0 gets its correct values.
//
// Cells above the band are treated as unreachable; on the diagonal below the band, each cell costs one more than the
// one before. All values are costs of real paths and therefore never too low. A path that leaves the band has at least
// (room + 1) more gap bases in each direction than the difference of the lengths requires. So a distance below |n - m|
// + 2 (room + 1) is exact, and every cell of every optimal path has its true value, which makes the path canonical as
// well.
#pragma once

#include "kernels/bits/bits.hpp"
#include "kernels/bits/bits_planes.hpp"
#include "kernels/bits/bits_runs.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <int W>
class LaneGroup {
 public:
  LaneGroup(const LanesTask& task, BitsMemory& memory) : task_(task), memory_(memory) {}

  // Aligns pairs first to first + count - 1 of the task; count <= kLanes.
  void run(std::int32_t first, std::int32_t count, LanesAnswer* answers) {
    admit(first, count, answers);
    lay_out(first, count);
    for (std::int32_t p = first + count; p < first + count + kLanes && p < task_.count; ++p) {
      prefetch(task_.pairs[p].query, task_.pairs[p].query_len);
      prefetch(task_.pairs[p].target, task_.pairs[p].target_len);
    }
    if (task_.path)
      sweep<true>(answers);
    else
      sweep<false>(answers);
    for (int l = 0; l < count; ++l)
      if (answers[l].status == Status::Ok && answers[l].score >= provable_[l]) answers[l].status = Status::ScoreLimit;
  }

  // Appends the CIGARs of the group that `run` aligned.
  void trace(std::int32_t count, LanesAnswer* answers, Cigar& cigar) {
    if constexpr (W == 1) trace_together(count, answers);
    for (int l = 0; l < count; ++l) {
      if (answers[l].status == Status::Ok) {
        cigar.begin();
        RunWriter runs(cigar.runs(), 2 * static_cast<std::size_t>(answers[l].score) + 2);
        if constexpr (W == 1)
          write_events(l, runs);
        else
          trace_path(l, runs);
        runs.finish();
      }
      answers[l].cigar_end = static_cast<std::int64_t>(cigar.runs().size());
    }
  }

 private:
  static constexpr std::int32_t kBand = 64 * W;
  static constexpr int kPlanes = 2;  // bit planes of the trace

  struct State {
    V pv[W], mv[W];  // vertical deltas of +1 and -1 of the last column, already shifted to the next column's rows
    V last[W];       // bit of the diagonal that ends in (n, m)
    V missed;        // columns in which the cell on that diagonal costs one more than the cell before
  };

  // Decides which pairs take part; the lanes of the others stay empty.
  void admit(std::int32_t first, std::int32_t count, LanesAnswer* answers) {
    std::size_t columns = 0;
    for (int l = 0; l < kLanes; ++l) {
      n_[l] = m_[l] = 0;
      if (l >= count) continue;
      const PairView& p = task_.pairs[first + l];
      answers[l] = LanesAnswer();
      const std::int32_t difference =
          p.query_len > p.target_len ? p.query_len - p.target_len : p.target_len - p.query_len;
      if (p.query_len > kMaxLanesLength || p.target_len > kMaxLanesLength)
        answers[l].status = Status::LengthLimit;
      else if (difference >= kBand)
        answers[l].status = Status::ScoreLimit;
      else if (task_.path && static_cast<std::size_t>(p.target_len) * trace_stride() * 8 > task_.table_bytes)
        answers[l].status = Status::MemoryLimit;
      if (answers[l].status != Status::Ok) continue;
      n_[l] = p.query_len;
      m_[l] = p.target_len;
      if (static_cast<std::size_t>(m_[l]) > columns) columns = static_cast<std::size_t>(m_[l]);
    }
    columns_ = static_cast<std::int32_t>(columns);
    for (int l = 0; l < kLanes; ++l) {
      const std::int32_t last_diagonal = n_[l] - m_[l];
      origin_[l] = (kBand - 1 - last_diagonal) / 2;
      const std::int32_t end = origin_[l] + last_diagonal, above = end < origin_[l] ? end : origin_[l];
      const std::int32_t below = kBand - 1 - (end < origin_[l] ? origin_[l] : end);
      provable_[l] = (last_diagonal < 0 ? -last_diagonal : last_diagonal) + 2 * ((above < below ? above : below) + 1);
    }
  }

  static constexpr std::size_t trace_stride() { return static_cast<std::size_t>(W) * kPlanes * kLanes; }

  // Prefetches sequences of the next group. Only the last 2 kb of a sequence are prefetched here; the hardware
  // prefetcher handles the rest.
  static WFACLI_INLINE void prefetch(const std::uint8_t* bases, std::int32_t length) {
    const std::int32_t first = length > 2048 ? length - 2048 : 0;
    for (std::int32_t at = length - 1; at >= first; at -= 64) __builtin_prefetch(bases + at);
    if (length > 0) __builtin_prefetch(bases + first);
  }

  // Writes the bit planes in the order in which the columns read them.
  void lay_out(std::int32_t first, std::int32_t count) {
    query_words_ = (columns_ + kBand) / 64 + 2;
    target_words_ = columns_ / 64 + 1;
    const std::size_t row = kLanes;
    q_ = aligned_words(memory_.planes, 2 * row * static_cast<std::size_t>(query_words_ + target_words_));
    t_ = q_ + 2 * row * static_cast<std::size_t>(query_words_);
    for (int l = 0; l < kLanes; ++l) {
      const PairView none = {nullptr, nullptr, 0, 0};
      const PairView& p = n_[l] || m_[l] ? task_.pairs[first + (l < count ? l : 0)] : none;
      lay_out_query(l, p.query);
      lay_out_target(l, p.target);
    }
    if (task_.path) trace_ = aligned_words(memory_.trace, trace_stride() * static_cast<std::size_t>(columns_));
  }

  // Word w of both planes is at [w][plane][lane]; bit x of the string is reversed base x - origin.
  void lay_out_query(int l, const std::uint8_t* bases) {
    Word* out = q_ + l;
    const std::int32_t n = n_[l], shift = origin_[l] & 63;
    std::int32_t w = 0;
    auto put = [&](Word low, Word high) {
      out[0] = low;
      out[kLanes] = high;
      out += 2 * kLanes;
      ++w;
    };
    while (w < origin_[l] >> 6) put(0, 0);
    Planes over = {0, 0};
    for (std::int32_t k = 0; 64 * k < n; ++k) {
      Planes p = reversed_word(bases, n, k);
      p.low = mirrored(p.low);
      p.high = mirrored(p.high);
      put(p.low << shift | over.low, p.high << shift | over.high);
      over.low = p.low >> 1 >> (63 - shift);
      over.high = p.high >> 1 >> (63 - shift);
    }
    put(over.low, over.high);
    while (w < query_words_) put(0, 0);
  }

  // Word w of both planes is at [w][plane][lane]; reversed base x is in bit 63 - x.
  void lay_out_target(int l, const std::uint8_t* bases) {
    Word* out = t_ + l;
    for (std::int32_t k = 0; k < target_words_; ++k, out += 2 * kLanes) {
      const Planes p = 64 * k < m_[l] ? reversed_word(bases, m_[l], k) : Planes{0, 0};
      out[0] = p.low;
      out[kLanes] = p.high;
    }
  }

  void begin(State& state) const {
    alignas(64) Word pv[W][kLanes], last[W][kLanes];
    for (int w = 0; w < W; ++w)
      for (int l = 0; l < kLanes; ++l) {
        const std::int32_t from = origin_[l] - 64 * w, end = origin_[l] + n_[l] - m_[l] - 64 * w;
        pv[w][l] = from <= 0 ? ~Word{0} : from > 63 ? 0 : ~Word{0} << from;
        last[w][l] = end >= 0 && end < 64 ? Word{1} << end : 0;
      }
    for (int w = 0; w < W; ++w) {
      state.pv[w] = load(pv[w]);
      state.mv[w] = ~state.pv[w];
      state.last[w] = load(last[w]);
    }
    state.missed = zeros();
  }

  // Computes all columns. A lane's result is read when its last column is done.
  template <bool Path>
  void sweep(LanesAnswer* answers) {
    State state;
    begin(state);
    std::int32_t missed[kLanes] = {};
    for (std::int32_t j = 0; j < columns_;) {
      std::int32_t stop = (j | 63) + 1;
      for (int l = 0; l < kLanes; ++l)
        if (m_[l] > j && m_[l] < stop) stop = m_[l];
      columns<Path>(state, j, stop);
      j = stop;
      for (int l = 0; l < kLanes; ++l)
        if (m_[l] == j) missed[l] = static_cast<std::int32_t>(state.missed[l]);
    }
    for (int l = 0; l < kLanes; ++l)
      if (n_[l] || m_[l]) answers[l].score = (n_[l] > m_[l] ? n_[l] - m_[l] : m_[l] - n_[l]) + missed[l];
  }

  // Computes one column. low and high are the planes of its base, broadcast over each lane; s is its offset in the
  // words at q. A word is finished one iteration late, because the shift to the next column's rows needs a bit of the
  // word above. Returns the rows whose diagonal delta is 0.
  template <bool Path>
  static WFACLI_INLINE V one_column(V* pv, V* mv, const V* last, const Word* q, int s, V low, V high, Word* trace) {
    V carry = zeros(), above_pv = zeros(), hit = zeros();
    V d0_before = zeros(), ph_before = zeros(), mh_before = zeros();
    for (int w = 0; w <= W; ++w) {
      V d0 = zeros(), ph = zeros(), mh = zeros();
      if (w < W) {
        const Word* a = q + w * 2 * kLanes;
        const Word* b = a + 2 * kLanes;
        const V miss_low = or_xor(low, load(a) >> s, (load(b) << 1) << (63 - s));
        const V miss_high = or_xor(high, load(a + kLanes) >> s, (load(b + kLanes) << 1) << (63 - s));
        const V eq = neither(miss_low, miss_high);
        const V over = eq & pv[w];
        const V sum = w > 0 ? over + (pv[w] + carry) : over + pv[w];
        if (w + 1 < W) carry = or_only(over, pv[w], sum) >> 63;
        d0 = xor_or(sum, pv[w], eq | mv[w]);
        ph = or_neither(mv[w], d0, pv[w]);
        mh = d0 & pv[w];
        hit = W == 1 ? d0 : w > 0 ? or_both(hit, d0, last[w]) : d0 & last[w];
      }
      if (w > 0) {
        const int k = w - 1;
        const V moved = w < W ? d0_before >> 1 | d0 << 63 : d0_before >> 1;
        const V next = or_neither(mh_before, moved, ph_before);
        mv[k] = moved & ph_before;
        pv[k] = next;
        if constexpr (Path) {
          // Trace bits: insertion, both; deletion, the first; mismatch, the second; match, none.
          const V own = k > 0 ? next << 1 | above_pv >> 63 : next << 1;
          store(trace + k * 2 * kLanes, own | ph_before);
          store(trace + k * 2 * kLanes + kLanes, or_neither(own, ph_before, d0_before));
          above_pv = next;
        }
      }
      d0_before = d0;
      ph_before = ph;
      mh_before = mh;
    }
    return hit;
  }

  // Computes columns from + 1 to `to`, which lie in one word of the target.
  template <bool Path>
  void columns(State& state, std::int32_t from, std::int32_t to) {
    const Word* t = t_ + static_cast<std::size_t>(from / 64) * 2 * kLanes;
    const Word* q = q_ + static_cast<std::size_t>(from / 64) * 2 * kLanes;
    const int skip = from & 63;
    V t_low = load(t) << skip, t_high = load(t + kLanes) << skip;
    V pv[W], mv[W], last[W], missed = state.missed;
    for (int w = 0; w < W; ++w) {
      pv[w] = state.pv[w];
      mv[w] = state.mv[w];
      last[w] = state.last[w];
    }
    Word* trace = Path ? trace_ + static_cast<std::size_t>(from) * trace_stride() : nullptr;
    for (int s = skip; s < skip + to - from; ++s) {
      const V low = top_bit_everywhere(t_low), high = top_bit_everywhere(t_high);
      t_low += t_low;
      t_high += t_high;
      const V hit = one_column<Path>(pv, mv, last, q, s, low, high, trace);
      missed = count_disjoint(missed, hit, W == 1 ? last[0] : hit);
      if constexpr (Path) trace += trace_stride();
    }
    for (int w = 0; w < W; ++w) {
      state.pv[w] = pv[w];
      state.mv[w] = mv[w];
    }
    state.missed = missed;
  }

#include "kernels/bits/bits_trace.hpp"

  const LanesTask& task_;
  BitsMemory& memory_;
  std::int32_t n_[kLanes], m_[kLanes];
  std::int32_t origin_[kLanes];    // bit of the diagonal that begins in (0, 0)
  std::int32_t provable_[kLanes];  // the band proves distances below this
  std::int32_t columns_, query_words_, target_words_;
  std::int32_t joins_[kLanes];      // column in which a lane's traceback begins
  std::int32_t first_row_[kLanes];  // row in which it reaches column 0
  Word *q_ = nullptr, *t_ = nullptr, *trace_ = nullptr, *events_ = nullptr;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
