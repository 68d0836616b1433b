// Vectors of scores that saturate at a floor. Included by local_tile.hpp only.
#pragma once

#include "kernels/difference/difference_lanes.hpp"
#include "solvers/local/local.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Lane: std::int16_t, which holds score - base of the tile - 32768, or std::int32_t, which holds the score. Sums below
// the floor become the floor, which is the tile's base or a score of 0.
template <class Lane_>
struct ScoreLanes : Lanes<Lane_> {
  using Base = Lanes<Lane_>;
  using typename Base::Lane;
  using typename Base::Signed;
  using typename Base::Vector;
  static constexpr bool kNarrow = sizeof(Lane) == 2;
  static constexpr std::int32_t kFloor = kNarrow ? -32768 : 0;
  static constexpr std::int32_t kNever = kNarrow ? -32768 : -(1 << 30);  // added to any score, gives the floor

  static WFACLI_INLINE Vector max(Vector a, Vector b) {
    const Signed x = (Signed)a, y = (Signed)b;
    return (Vector)(x > y ? x : y);
  }
  static WFACLI_INLINE Vector plus(Vector a, Vector b) {
    if constexpr (!kNarrow)
      return max(a + b, Vector{});
    else
      return saturated(a, b, [](std::int32_t x, std::int32_t y) { return x + y; }, true);
  }
  static WFACLI_INLINE Vector less(Vector a, Vector b) {
    if constexpr (!kNarrow)
      return max(a - b, Vector{});
    else
      return saturated(a, b, [](std::int32_t x, std::int32_t y) { return x - y; }, false);
  }
  // All ones in lanes where a equals b, else 0.
  static WFACLI_INLINE Vector same(Vector a, Vector b) { return (Vector)(a == b); }
  static WFACLI_INLINE Vector pick(Vector mask, Vector a, Vector b) { return Base::choose(b, a, mask); }
  static WFACLI_INLINE std::int32_t highest(Vector v) {
    std::int32_t found = kFloor;
    for (int l = 0; l < Base::kCount; ++l) {
      const auto score = static_cast<std::int32_t>(((Signed)v)[l]);
      found = score > found ? score : found;
    }
    return found;
  }
  // Widen one byte per lane.
  static WFACLI_INLINE Vector widened(const std::uint8_t* codes) {
    typename Base::Symbols symbols;
    std::memcpy(&symbols, codes, sizeof symbols);
    return __builtin_convertvector(symbols, Vector);
  }

 private:
  template <class Sum>
  static WFACLI_INLINE Vector saturated(Vector a, Vector b, const Sum& sum, bool add) {
#if defined(__AVX512BW__)
    (void)sum;
    return add ? (Vector)_mm512_adds_epi16((__m512i)a, (__m512i)b) : (Vector)_mm512_subs_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    (void)sum;
    return add ? (Vector)_mm256_adds_epi16((__m256i)a, (__m256i)b) : (Vector)_mm256_subs_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    (void)sum;
    return add ? (Vector)_mm_adds_epi16((__m128i)a, (__m128i)b) : (Vector)_mm_subs_epi16((__m128i)a, (__m128i)b);
#else
    (void)add;
    Vector v{};
    for (int l = 0; l < Base::kCount; ++l) {
      const std::int32_t exact = sum(((Signed)a)[l], ((Signed)b)[l]);
      v[l] = static_cast<std::uint16_t>(exact < -32768 ? -32768 : exact > 32767 ? 32767 : exact);
    }
    return v;
#endif
  }
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
