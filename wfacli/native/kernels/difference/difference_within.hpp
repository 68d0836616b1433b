// The band that a corridor leaves of a pair: it differs from one range of rows to the next.
#pragma once

#include "kernels/certain/certain.hpp"
#include "kernels/difference/difference_bound.hpp"

namespace wfacli {
namespace WFACLI_ISA {

class Within {
 public:
  // `corridor`: null if it is not known; then a band has no limits but its own. `window`: most cells of a window.
  Within(const Corridor* corridor, const Bounds& bounds, std::int32_t total, std::int32_t window)
      : corridor_(corridor), bounds_(bounds), total_(total), start_(total & 1), window_(window) {}

  bool known() const { return corridor_ != nullptr; }

  // Returns the band of all rows.
  Band hull() const {
    Diagonals all = corridor_->of[0];
    for (std::int32_t c = 1; c < corridor_->count; ++c)
      all = {smaller(all.low, corridor_->of[c].low), larger(all.high, corridor_->of[c].high)};
    return bounds_.between(all.low, all.high);
  }

  // Returns the band of the rows after row r, up to the next range, inside of `limit`: as wide as a window if one covers it,
  // so that a window follows where the band has grown.
  Band after(const Band& limit, std::int32_t r) const {
    if (!known()) return limit;
    const Diagonals& here = corridor_->of[smaller((r - start_) / Corridor::kRows, corridor_->count - 1)];
    Band band = bounds_.between(here.low, here.high);
    const std::int32_t cells = band.cells(r);
    if (cells <= window_) band.hi += 2 * (window_cells(cells) - cells);
    return {larger(limit.lo, band.lo), smaller(limit.hi, band.hi)};
  }
  // Returns the number of rows after row r up to the next range.
  std::int32_t rows_after(std::int32_t r) const {
    return known() ? Corridor::kRows - (r - start_) % Corridor::kRows : total_;
  }

 private:
  const Corridor* corridor_;
  const Bounds& bounds_;
  const std::int32_t total_, start_, window_;
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
