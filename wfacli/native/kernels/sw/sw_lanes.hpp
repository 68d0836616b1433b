// Many pairs of similar lengths, one per lane: all lanes compute the same cell in a step, row by row.
//
// Lanes with a shorter pair continue over pads. Cells there come from a cell of the pair through gaps and pads, which
// score below 0. So they are never as good as that cell, and never lead back to one.
#pragma once

#include "kernels/sw/sw_scores.hpp"
#include "kernels/sw/sw_traceback.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// What a sweep finds.
enum class SwFind : std::uint8_t {
  Score,      // best local score
  Best,       // best cell of local alignments; of equal cells the first
  BestFlags,  // the same, and flags of each cell for the traceback
  Ends,       // scores of all cells; the ends are evaluated
  EndsFlags,
  Furthest,  // best cell of extensions
};
constexpr bool sw_local(SwFind f) { return f <= SwFind::BestFlags; }
constexpr bool sw_flags(SwFind f) { return f == SwFind::BestFlags || f == SwFind::EndsFlags; }

// Returns the SwFlag bits of cells, from the values that enter them and those that continue from them.
template <class V>
WFACLI_INLINE typename V::Vector sw_flags_of(typename V::Vector h, typename V::Vector inserted,
                                             typename V::Vector deleted, typename V::Vector gap,
                                             typename V::Vector inserted_on, typename V::Vector deleted_on) {
  const typename V::Vector none{};
  return V::if_equal(h, inserted, V::all(kFromInsertion), none) |
         V::if_equal(h, deleted, V::all(kFromDeletion), none) |
         V::if_at_least(gap, inserted_on, V::all(kInsertionBegins), none) |
         V::if_at_least(gap, deleted_on, V::all(kDeletionBegins), none);
}

template <class Lane, SwFind kFind, bool kPlain>
class SwLanes {
  using V = SwVector<Lane>;
  using Vector = typename V::Vector;
  using Lookup = SwLookup<Lane>;
  static constexpr int kLanes = V::kCount;

 public:
  SwLanes(const SwTask& task, const SwPair* pairs, std::int32_t count, SwMemory& memory)
      : task_(task), s_(*task.scheme), pairs_(pairs), count_(count), memory_(memory) {
    zero_ = sizeof(Lane) == 1 ? sw_zero8(s_) : 0;
    for (std::int32_t p = 0; p < count; ++p) {
      n_ = n_ > pairs[p].query_len ? n_ : pairs[p].query_len;
      m_ = m_ > pairs[p].target_len ? m_ : pairs[p].target_len;
    }
  }

  void run(SwAnswer* answers) {
    if (sw_flags(kFind) && table_bytes() > task_.memory_bytes) return all(answers, Status::MemoryLimit);
    lay_out();
    best_ = V::all(sw_local(kFind) ? zero_ : 0);
    for (std::int32_t i = 1; i <= n_; ++i) {
      if ((i & 255) == 0 && task_.cancelled && task_.cancelled->is_set()) return all(answers, Status::Dropped);
      row(i);
      if (sizeof(Lane) == 1 && (i & 63) == 0 && mostly_over()) return all(answers, Status::ScoreLimit);
      if constexpr (kFind == SwFind::Ends || kFind == SwFind::EndsFlags) look_at_ends(i, answers);
    }
    if constexpr (kFind != SwFind::Ends && kFind != SwFind::EndsFlags) take_best(answers);
    if constexpr (sw_flags(kFind)) trace_path(answers);
  }

 private:
  std::size_t table_bytes() const { return static_cast<std::size_t>(n_) * m_ * kLanes; }

  void all(SwAnswer* answers, Status status) {
    for (std::int32_t p = 0; p < count_; ++p) answers[p].status = status;
  }

  // Returns true if most scores have overflowed their lanes, so that continuing is not worthwhile.
  bool mostly_over() const {
    alignas(64) Lane best[kLanes];
    V::store(best, best_);
    std::int32_t over = 0;
    for (std::int32_t p = 0; p < count_; ++p) over += best[p] > INT8_MAX - s_.max_score;
    return 2 * over > count_;
  }

  // Stores symbols by column for all lanes; under a matrix, in blocks of 16 columns, lane by lane.
  void lay_out() {
    const std::size_t columns = (static_cast<std::size_t>(m_) + kSwBlock) & ~std::size_t{kSwBlock - 1};
    const std::size_t across = 16 * Lookup::chunks();
    const std::size_t symbol_bytes = kPlain ? columns * sizeof(Vector) : columns * across;
    std::uint8_t* at = aligned_bytes(memory_.symbols, symbol_bytes);
    for (int lane = 0; lane < static_cast<int>(kPlain ? kLanes : across); ++lane) {
      const SwPair* pair = lane < count_ ? &pairs_[lane] : nullptr;
      for (std::size_t j = 0; j < columns; ++j) {
        const std::uint8_t code =
            pair && j < static_cast<std::size_t>(pair->target_len) ? pair->target[j] : kTargetPad;
        if (kPlain)
          reinterpret_cast<Lane*>(at)[j * kLanes + lane] = static_cast<Lane>(code);
        else
          at[(j / 16 * 16 + lane % 16) * across + lane / 16 * 16 + j % 16] = code;
      }
    }
    symbols_ = at;
    std::uint8_t* rows = aligned_bytes(memory_.rows, 2 * (static_cast<std::size_t>(m_) + 1) * sizeof(Vector));
    h_ = reinterpret_cast<Lane*>(rows);
    inserted_ = h_ + (static_cast<std::size_t>(m_) + 1) * kLanes;
    const Vector gap = V::all(s_.open + s_.extend);
    for (std::int32_t j = 0; j <= m_; ++j) {
      const Vector h = V::all(task_.rule == SwRule::Global || task_.rule == SwRule::Extension ? border(j) : zero_);
      V::store(h_ + j * std::size_t{kLanes}, h);
      V::store(inserted_ + j * std::size_t{kLanes}, h - gap);
    }
    if constexpr (sw_flags(kFind)) table_ = aligned_bytes(memory_.table, table_bytes());
  }

  // Returns the score of a border cell where a leading gap counts.
  std::int32_t border(std::int32_t length) const { return length ? -(s_.open + length * s_.extend) : 0; }

  // Returns the query symbols of row i in all lanes.
  Vector query_symbols(std::int32_t i) {
    alignas(64) Lane symbols[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool has = lane < count_ && i <= pairs_[lane].query_len;
      const std::uint8_t code = has ? pairs_[lane].query[i - 1] : kQueryPad;
      symbols[lane] = static_cast<Lane>(code);
      if constexpr (!kPlain) lookup_.set_row(s_, lane, code);
    }
    return V::load(symbols);
  }

  void row(std::int32_t i) {
    const Vector q = query_symbols(i), same = V::all(s_.matrix[0][0]), other = V::all(s_.matrix[0][1]);
    const Vector opened = V::all(s_.open + s_.extend), extend = V::all(s_.extend), zero = V::all(zero_);
    const Vector here = V::all(i);
    // Positions of this row's cells that are the best so far; 0 means none.
    Vector at{};
    Lane* const row_h = h_;
    Lane* const row_inserted = inserted_;
    const std::uint8_t* const symbols_at = symbols_;
    const std::int32_t columns = m_;
    Vector diagonal = V::load(row_h), border_h = V::all(sw_local(kFind) ? zero_ : border(i)), best = best_;
    V::store(row_h, border_h);
    Vector deleted = border_h - opened, place = V::all(kFind == SwFind::Furthest ? i : 0);
    std::uint8_t* flags = sw_flags(kFind) ? table_ + static_cast<std::size_t>(i - 1) * m_ * kLanes : nullptr;
    for (std::int32_t j0 = 0; j0 < columns; j0 += kSwBlock) {
      if constexpr (!kPlain) {
        constexpr std::size_t across = 16 * Lookup::chunks();
        const std::uint8_t* block = symbols_at + static_cast<std::size_t>(j0) * across;
        lookup_.look_up([&](int r) { return SwChunks<Lookup::chunks()>::load(block + r * across); });
      }
      const std::int32_t last = columns - j0 < kSwBlock ? columns - j0 : kSwBlock;
      for (std::int32_t k = 0; k < last; ++k) {
        const std::size_t cell = static_cast<std::size_t>(j0 + k) * kLanes;  // index of column j0 + k + 1
        Lane* const h_at = row_h + cell + kLanes;
        Lane* const inserted_at = row_inserted + cell + kLanes;
        Vector score;
        if constexpr (kPlain)
          score = V::if_equal(q, V::load(reinterpret_cast<const Lane*>(symbols_at) + cell), same, other);
        else
          score = lookup_.score(k);
        const Vector up = V::load(h_at), inserted = V::load(inserted_at);
        Vector h = V::max(diagonal + score, inserted);
        if constexpr (sw_local(kFind)) h = V::max(h, zero);
        h = V::max(h, deleted);
        const Vector gap = h - opened, inserted_on = inserted - extend, deleted_on = deleted - extend;
        if constexpr (sw_flags(kFind))
          V::store_bytes(flags + cell, sw_flags_of<V>(h, inserted, deleted, gap, inserted_on, deleted_on));
        V::store(inserted_at, V::max(gap, inserted_on));
        deleted = V::max(gap, deleted_on);
        diagonal = up;
        V::store(h_at, h);
        if constexpr (kFind == SwFind::Score) best = V::max(best, h);
        if constexpr (kFind == SwFind::BestFlags) {
          place += V::all(1);
          at = V::if_above(h, best, place, at);
          best = V::max(best, h);
        }
        if constexpr (kFind == SwFind::Furthest) {
          // Of equal best cells, prefer one with fewer symbols.
          place += V::all(1);
          const Vector fewer = V::if_equal(h, best, V::if_above(at_sum_, place, place, at), at);
          at = V::if_above(h, best, place, fewer);
          at_sum_ = V::if_equal(at, place, place, at_sum_);
          best = V::max(best, h);
        }
      }
    }
    best_ = best;
    if constexpr (kFind == SwFind::BestFlags || kFind == SwFind::Furthest) {
      at_i_ = V::if_equal(at, Vector{}, at_i_, here);
      at_j_ = V::if_equal(at, Vector{}, at_j_, at);
    }
  }

  // Evaluates pairs whose query ends with this row.
  void look_at_ends(std::int32_t i, SwAnswer* answers) {
    for (std::int32_t p = 0; p < count_; ++p) {
      if (pairs_[p].query_len != i) continue;
      std::int32_t j = pairs_[p].target_len;
      const Lane* h = h_ + p;
      std::int32_t best = h[static_cast<std::size_t>(j) * kLanes];
      if (task_.rule == SwRule::Semiglobal)
        for (std::int32_t k = j - 1; k >= 0; --k)
          if (h[static_cast<std::size_t>(k) * kLanes] >= best) best = h[static_cast<std::size_t>(j = k) * kLanes];
      answers[p].score = best;
      answers[p].query_at = i;
      answers[p].target_at = j;
    }
  }

  void take_best(SwAnswer* answers) {
    alignas(64) Lane best[kLanes], i[kLanes], j[kLanes];
    V::store(best, best_);
    V::store(i, at_i_);
    V::store(j, at_j_);
    constexpr std::int32_t max_score = sizeof(Lane) == 1 ? INT8_MAX : INT16_MAX;
    for (std::int32_t p = 0; p < count_; ++p) {
      answers[p].score = best[p] - zero_;
      if (best[p] > max_score - s_.max_score) answers[p].status = Status::ScoreLimit;  // a cell may have overflowed
      if (answers[p].score == 0 || kFind == SwFind::Score) continue;
      answers[p].query_at = i[p];
      answers[p].target_at = kFind == SwFind::Furthest ? j[p] - i[p] : j[p];
    }
  }

  void trace_path(SwAnswer* answers) {
    for (std::int32_t p = 0; p < count_; ++p) {
      SwAnswer& a = answers[p];
      if (a.status != Status::Ok) continue;
      memory_.cigars.begin();
      a.cigar = static_cast<std::int64_t>(memory_.cigars.runs().size());
      SwTraceback traceback(task_, pairs_[p], a);
      traceback.go(
          memory_.cigars, [](std::int32_t, std::int32_t) { return true; },
          [&](std::int32_t i, std::int32_t j) {
            return table_[(static_cast<std::size_t>(i - 1) * m_ + (j - 1)) * kLanes + p];
          });
      a.query_left = traceback.row();
      a.target_left = traceback.column();
      a.runs = static_cast<std::int64_t>(memory_.cigars.runs().size()) - a.cigar;
    }
  }

  const SwTask& task_;
  const SwScheme& s_;
  const SwPair* pairs_;
  const std::int32_t count_;
  SwMemory& memory_;
  std::int32_t n_ = 0, m_ = 0;  // maximum lengths
  std::int32_t zero_;           // lane value of score 0
  const std::uint8_t* symbols_ = nullptr;
  Lane *h_ = nullptr, *inserted_ = nullptr;  // last row, at [column][lane]; inserted_: next row
  std::uint8_t* table_ = nullptr;            // SwFlag at [row - 1][column - 1][lane]
  Lookup lookup_;
  // Best cells: scores, rows and columns; for Furthest, sums of row and column instead of columns.
  Vector best_{}, at_i_{}, at_j_{}, at_sum_{};
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
