// Rows of a wavefront: storage by score, of all rows or the most recent ones, and checkpoints of the most recent ones.
// Included by wavefront_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/wavefront/wavefront.hpp"

namespace wfacli {
namespace WFACLI_ISA {

using Offset = std::int32_t;  // furthest target position on a diagonal (diagonal = target - query)

constexpr Offset kNone = INT32_MIN / 2;  // no path; stays negative however often 1 is added

// Rows are computed in blocks of this many diagonals; the last block extends past the row's end.
constexpr std::int32_t kBlock = 16;

// Offsets by (score, component, diagonal). Component 0 is M; 1 + 2g and 2 + 2g are insertions and deletions of gap
// piece g. A row is readable `pad` diagonals past either end, where it holds kNone. Before it is closed, it can be
// written and read one block past its end.
class Rows {
 public:
  Rows(RowMemory& memory, int components, std::int32_t pad) : mem_(memory), components_(components), pad_(pad) {}

  // Clears everything; scores start at `first`. The last `depth` rows stay readable, or all of them if `depth` is 0.
  void reset(std::int32_t first, std::int32_t depth) {
    first_ = first;
    depth_ = 0;  // rounded up to a power of two, so that a mask finds the slot
    while (depth_ < depth) depth_ = depth_ ? 2 * depth_ : 1;
    used_ = 0;
    slot_ = 0;
    mem_.rows.resize(static_cast<std::size_t>(depth_));
  }

  WFACLI_INLINE const RowRef& ref(std::int32_t score) const { return mem_.rows[index(score)]; }

  // Returns the component's offsets; element k belongs to diagonal k.
  WFACLI_INLINE Offset* component(std::int32_t score, int c) {
    const RowRef& r = ref(score);
    return mem_.offsets.data() + r.at + static_cast<std::int64_t>(c) * r.stride + (pad_ - r.lo);
  }

  // Adds the row of the next score; close() it once it is computed. Invalidates pointers from component().
  WFACLI_INLINE void open(std::int32_t score, std::int32_t lo, std::int32_t hi) {
    const std::int32_t stride = hi - lo + 1 + 2 * pad_ + kBlock;
    const std::int64_t need = static_cast<std::int64_t>(stride) * components_;
    RowRef row{0, lo, hi, stride};
    if (depth_) {
      if (need > slot_) widen(need + need / 2);
      row.at = static_cast<std::int64_t>(index(score)) * slot_;
    } else {
      row.at = used_;
      used_ += need;
      mem_.offsets.resize(static_cast<std::size_t>(used_) + kTail);
      mem_.rows.resize(index(score) + 1);
    }
    mem_.rows[index(score)] = row;
    for (int c = 0; c < components_; ++c) fill(mem_.offsets.data() + row.at + std::int64_t{c} * stride);
  }
  // Fills the values past the row's end.
  WFACLI_INLINE void close(std::int32_t score) {
    const RowRef& row = ref(score);
    Offset* end = mem_.offsets.data() + row.at + pad_ + (row.hi - row.lo + 1);
    for (int c = 0; c < components_; ++c) fill(end + std::int64_t{c} * row.stride);
  }

  // Adds the row of the next score, without a path to any cell.
  void open_blank(std::int32_t score, std::int32_t lo, std::int32_t hi) {
    open(score, lo, hi);
    blank(score);
  }
  void blank(std::int32_t score) {
    const RowRef& row = ref(score);
    for (int c = 0; c < components_; ++c) {
      Offset* values = component(score, c);
      for (std::int32_t k = row.lo; k <= row.hi; ++k) values[k] = kNone;
    }
    close(score);
  }

  // Adds the rows of scores `first` to `last`, without a path to any cell.
  void open_blanks(std::int32_t first, std::int32_t last, std::int32_t lo, std::int32_t hi) {
    for (std::int32_t s = first; s <= last; ++s) {
      if (depth_ || s == first) {
        open_blank(s, lo, hi);
      } else {  // a table's rows never change, so these can share one
        const RowRef same = mem_.rows[0];
        mem_.rows.push(same);
      }
    }
  }

  // Drops the row's diagonals outside lo..hi, which must lie within the row.
  void shrink(std::int32_t score, std::int32_t lo, std::int32_t hi) {
    RowRef& row = mem_.rows[index(score)];
    for (int c = 0; c < components_; ++c) {
      Offset* values = component(score, c);
      for (std::int32_t k = row.lo; k < lo; ++k) values[k] = kNone;
      for (std::int32_t k = hi + 1; k <= row.hi; ++k) values[k] = kNone;
    }
    row.at += lo - row.lo;
    row.lo = lo;
    row.hi = hi;
  }

  std::size_t bytes() const {
    const std::size_t offsets = depth_ ? static_cast<std::size_t>(slot_) * depth_ : static_cast<std::size_t>(used_);
    return offsets * sizeof(Offset) + mem_.rows.size() * sizeof(RowRef);
  }

 private:
  WFACLI_INLINE std::size_t index(std::int32_t score) const {
    const std::uint32_t i = static_cast<std::uint32_t>(score - first_);
    return depth_ ? i & (static_cast<std::uint32_t>(depth_) - 1) : i;
  }
  // Fills a pad, rounded up to whole blocks; a row has room for that.
  WFACLI_INLINE void fill(Offset* first) const {
    for (std::int32_t i = 0; i < pad_; i += kBlock)
      for (std::int32_t j = 0; j < kBlock; ++j) first[i + j] = kNone;
  }
  static constexpr std::size_t kTail = 4 * kBlock;  // readable offsets past the last row
  // Gives every slot of the ring room for `slot` offsets.
  void widen(std::int64_t slot) {
    mem_.offsets.resize(static_cast<std::size_t>(slot) * depth_ + kTail);
    Offset* data = mem_.offsets.data();
    for (std::int32_t i = depth_ - 1; i > 0; --i)
      std::memmove(data + i * slot, data + i * slot_, static_cast<std::size_t>(slot_) * sizeof(Offset));
    for (std::int32_t i = 0; i < depth_; ++i) mem_.rows[i].at = i * slot;
    slot_ = slot;
  }

  RowMemory& mem_;
  int components_;
  std::int32_t pad_, first_ = 0, depth_ = 0;
  std::int64_t used_ = 0, slot_ = 0;
};

// Diagonals from which a cell is still reachable: a step sideways costs at least `extend`.
struct Cone {
  std::int32_t score, diagonal, extend;
  std::int32_t lo(std::int32_t at) const { return diagonal - (score - at) / extend; }
  std::int32_t hi(std::int32_t at) const { return diagonal + (score - at) / extend; }
};

// Copies of the rows from which a wavefront can resume, in order of score.
class Checkpoints {
 public:
  // Each checkpoint stores the last `depth` rows, with gap components for the last `gap_depth` of them.
  Checkpoints(int components, std::int32_t depth, std::int32_t gap_depth)
      : components_(components), depth_(depth), gap_depth_(gap_depth) {}
  ~Checkpoints() { truncate(0); }
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  std::size_t count() const { return saved_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::int32_t last() { return saved_.back().score; }

  void save(Rows& rows, std::int32_t score) {
    std::size_t values = 0;
    for (std::int32_t r = 0; r < depth_; ++r) values += width(rows.ref(score - r)) * saved_components(r);
    const std::size_t bytes = depth_ * sizeof(RowRef) + values * sizeof(Offset);
    std::uint8_t* block = static_cast<std::uint8_t*>(take_bytes(bytes));
    RowRef* refs = reinterpret_cast<RowRef*>(block);
    Offset* to = reinterpret_cast<Offset*>(refs + depth_);
    for (std::int32_t r = 0; r < depth_; ++r) {
      refs[r] = rows.ref(score - r);
      const std::size_t w = width(refs[r]);
      for (int c = 0; c < saved_components(r); ++c, to += w)
        std::memcpy(to, rows.component(score - r, c) + refs[r].lo, w * sizeof(Offset));
    }
    saved_.push({score, bytes, block});
    bytes_ += bytes;
  }

  // Restores the rows of the last checkpoint into `rows`, cut to the cone.
  void restore_last(Rows& rows, std::int32_t ring_depth, const Cone& cone) {
    const Saved& saved = saved_.back();
    const RowRef* refs = reinterpret_cast<const RowRef*>(saved.block);
    const Offset* from = reinterpret_cast<const Offset*>(refs + depth_);
    // Rows are stored newest first and opened oldest first, so each row's values are located from the end.
    const Offset* ends = from;
    for (std::int32_t r = 0; r < depth_; ++r) ends += width(refs[r]) * saved_components(r);
    rows.reset(saved.score - depth_ + 1, ring_depth);
    for (std::int32_t r = depth_ - 1; r >= 0; --r) {
      const std::size_t w = width(refs[r]);
      ends -= w * saved_components(r);
      restore_row(rows, saved.score - r, refs[r], ends, w, saved_components(r), cone);
    }
  }

  void truncate(std::size_t count) {
    while (saved_.size() > count) {
      std::free(saved_.back().block);
      bytes_ -= saved_.back().bytes;
      saved_.resize(saved_.size() - 1);
    }
  }

  // Drops checkpoints from index `from` on whose score is not base plus a multiple of step.
  void thin(std::size_t from, std::int32_t base, std::int32_t step) {
    std::size_t to = from;
    for (std::size_t i = from; i < saved_.size(); ++i) {
      if ((saved_[i].score - base) % step == 0) {
        saved_[to++] = saved_[i];
      } else {
        std::free(saved_[i].block);
        bytes_ -= saved_[i].bytes;
      }
    }
    saved_.resize(to);
  }

 private:
  struct Saved {
    std::int32_t score;
    std::size_t bytes;
    std::uint8_t* block;  // RowRef[depth], newest first; then their offsets without pads
  };
  int saved_components(std::int32_t r) const { return r < gap_depth_ ? components_ : 1; }
  static std::size_t width(const RowRef& r) { return static_cast<std::size_t>(r.hi - r.lo + 1); }

  void restore_row(Rows& rows, std::int32_t score, const RowRef& ref, const Offset* values, std::size_t stored_width,
                   int saved_components, const Cone& cone) {
    const std::int32_t lo = cone.lo(score) > ref.lo ? cone.lo(score) : ref.lo;
    const std::int32_t hi = cone.hi(score) < ref.hi ? cone.hi(score) : ref.hi;
    if (lo > hi) return rows.open_blank(score, cone.lo(score), cone.hi(score));
    rows.open(score, lo, hi);
    const std::size_t w = static_cast<std::size_t>(hi - lo + 1);
    for (int c = 0; c < components_; ++c) {
      Offset* to = rows.component(score, c) + lo;
      if (c < saved_components) {
        std::memcpy(to, values + c * stored_width + (lo - ref.lo), w * sizeof(Offset));
      } else {
        for (std::size_t i = 0; i < w; ++i) to[i] = kNone;
      }
    }
    rows.close(score);
  }

  int components_;
  std::int32_t depth_, gap_depth_;
  std::size_t bytes_ = 0;
  Buffer<Saved> saved_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
