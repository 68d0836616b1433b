// Substitution scores for all lanes of a vector at once.
//
// With plain codes, equal symbols have one score and different symbols another, so a comparison suffices. Under a
// matrix, each lane has the 32 scores of its query symbol, and looks up 16 target symbols at a time. The lanes' rows
// of 16 bytes are then transposed into one vector per symbol.
#pragma once

#include "base/bytes.hpp"
#include "kernels/difference/difference_lanes.hpp"
#include "kernels/sw/sw.hpp"

namespace wfacli {
namespace WFACLI_ISA {

constexpr int kSwBlock = 16;  // columns or steps per lookup

template <class T, int Bytes>
struct SwBytes {
  typedef T Type __attribute__((vector_size(Bytes)));
};

// Returns `bytes` bytes, aligned for vectors. The previous content is lost.
WFACLI_INLINE std::uint8_t* aligned_bytes(Buffer<std::uint8_t>& buffer, std::size_t bytes) {
  buffer.clear();
  buffer.reserve(bytes + 64);
  return buffer.data() + ((64 - (reinterpret_cast<std::uintptr_t>(buffer.data()) & 63)) & 63);
}

template <class Lane>
struct SwVector : Lanes<Lane> {
  using L = Lanes<Lane>;
  using typename L::Signed;
  using typename L::Vector;
  static WFACLI_INLINE Vector max(Vector a, Vector b) {
    const Signed x = (Signed)a, y = (Signed)b;
    return (Vector)(x > y ? x : y);
  }
  // Return a + b and a - b; 16-bit lanes saturate at their minimum.
  static WFACLI_INLINE Vector plus(Vector a, Vector b) {
    if constexpr (sizeof(Lane) != 2) return a + b;
#if defined(__AVX512BW__)
    if constexpr (L::kBytes == 64) return (Vector)_mm512_adds_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (L::kBytes == 32) return (Vector)_mm256_adds_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (L::kBytes == 16) return (Vector)_mm_adds_epi16((__m128i)a, (__m128i)b);
#endif
    return max(a, if_above(Vector{}, b, L::all(INT16_MIN) - b, a)) + b;
  }
  static WFACLI_INLINE Vector minus(Vector a, Vector b) {
    if constexpr (sizeof(Lane) != 2) return a - b;
#if defined(__AVX512BW__)
    if constexpr (L::kBytes == 64) return (Vector)_mm512_subs_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (L::kBytes == 32) return (Vector)_mm256_subs_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (L::kBytes == 16) return (Vector)_mm_subs_epi16((__m128i)a, (__m128i)b);
#endif
    return max(a, if_above(b, Vector{}, L::all(INT16_MIN) + b, a)) - b;
  }
  // Return x where the comparison of a and b holds, else y. As one expression each, they compile to one masked blend.
  static WFACLI_INLINE Vector if_equal(Vector a, Vector b, Vector x, Vector y) {
    return (Vector)((Signed)a == (Signed)b ? (Signed)x : (Signed)y);
  }
  static WFACLI_INLINE Vector if_at_least(Vector a, Vector b, Vector x, Vector y) {
    return (Vector)((Signed)a >= (Signed)b ? (Signed)x : (Signed)y);
  }
  static WFACLI_INLINE Vector if_above(Vector a, Vector b, Vector x, Vector y) {
    return (Vector)((Signed)a > (Signed)b ? (Signed)x : (Signed)y);
  }
  // Returns one bit per byte of a mask whose lanes are all ones or all zeros.
  static WFACLI_INLINE std::uint64_t bits(Vector mask) {
#if defined(__AVX512BW__)
    if constexpr (L::kBytes == 64) return _mm512_movepi8_mask((__m512i)mask);
#endif
#if defined(__AVX2__)
    if constexpr (L::kBytes == 32) return static_cast<std::uint32_t>(_mm256_movemask_epi8((__m256i)mask));
#endif
#if defined(__SSE2__)
    if constexpr (L::kBytes == 16) return static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)mask));
#endif
    std::uint64_t found = 0;
    for (int lane = 0; lane < L::kCount; ++lane)
      if (mask[lane]) found |= ((std::uint64_t{1} << sizeof(Lane)) - 1) << (lane * sizeof(Lane));
    return found;
  }
  // Returns the maximum over all lanes.
  static WFACLI_INLINE std::int32_t max_element(Vector v) {
#if defined(__SSE4_1__)
    if constexpr (sizeof(Lane) == 2) {  // there is an instruction for the unsigned minimum of eight
      alignas(64) __m128i parts[L::kBytes / 16];
      std::memcpy(parts, &v, sizeof v);
      for (int some = L::kBytes / 32; some; some /= 2)
        for (int part = 0; part < some; ++part) parts[part] = _mm_max_epi16(parts[part], parts[part + some]);
      const __m128i minimum = _mm_minpos_epu16(_mm_xor_si128(parts[0], _mm_set1_epi16(INT16_MAX)));
      return INT16_MAX - _mm_extract_epi16(minimum, 0);
    }
#endif
    alignas(64) Lane lanes[L::kCount];
    L::store(lanes, v);
    for (int some = L::kCount / 2; some; some /= 2)
      for (int lane = 0; lane < some; ++lane)
        lanes[lane] = lanes[lane] > lanes[lane + some] ? lanes[lane] : lanes[lane + some];
    return lanes[0];
  }
  // Loads one signed byte per lane and widens it.
  static WFACLI_INLINE Vector widened(const std::uint8_t* from) {
#if defined(__AVX512BW__)
    if constexpr (L::kBytes == 64 && sizeof(Lane) == 2)
      return (Vector)_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#endif
    typename SwBytes<std::int8_t, L::kCount>::Type bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return (Vector) __builtin_convertvector(bytes, Signed);
  }
  // Returns x in lanes whose bytes of a and b are equal, else y.
  static WFACLI_INLINE Vector if_same(const std::uint8_t* a, const std::uint8_t* b, Vector x, Vector y) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    if constexpr (L::kBytes == 64 && sizeof(Lane) == 2) {
      const auto bytes = [](const std::uint8_t* at) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
      };
      return (Vector)_mm512_mask_blend_epi16(_mm256_cmpeq_epi8_mask(bytes(a), bytes(b)), (__m512i)y, (__m512i)x);
    }
#endif
    typename SwBytes<std::int8_t, L::kCount>::Type p, q;
    std::memcpy(&p, a, sizeof p);
    std::memcpy(&q, b, sizeof q);
    return (Vector)(__builtin_convertvector(p == q, Signed) != 0 ? (Signed)x : (Signed)y);
  }
  // Stores the lowest byte of each lane.
  static WFACLI_INLINE void store_bytes(std::uint8_t* to, Vector v) {
    using Bytes = typename SwBytes<std::uint8_t, L::kCount>::Type;
    const Bytes bytes = __builtin_convertvector(v, Bytes);
    std::memcpy(to, &bytes, sizeof bytes);
  }
};

// A vector with 16 bytes for each group of 16 lanes.
template <int Chunks>
struct SwChunks {
  static constexpr int kBytes = 16 * Chunks;
  using Bytes = typename SwBytes<std::uint8_t, kBytes>::Type;

  static WFACLI_INLINE Bytes load(const std::uint8_t* from) {
    Bytes v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static WFACLI_INLINE void store(std::uint8_t* to, Bytes v) { std::memcpy(to, &v, sizeof v); }
  // Looks up bytes in each chunk's 16-byte table. Upper bits of an index are ignored, except the top bit: it must be
  // 0, or on x86 yields a zero byte.
  static WFACLI_INLINE Bytes shuffled(Bytes table, Bytes index) {
#if defined(__AVX512BW__)
    if constexpr (Chunks == 4) return (Bytes)_mm512_shuffle_epi8((__m512i)table, (__m512i)index);
#endif
#if defined(__AVX2__)
    if constexpr (Chunks == 2) return (Bytes)_mm256_shuffle_epi8((__m256i)table, (__m256i)index);
#endif
#if defined(__SSSE3__)
    if constexpr (Chunks == 1) return (Bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#endif
    if constexpr (Chunks == 1) return lookup16(table, index & 15);
    Bytes found{};
    for (int b = 0; b < kBytes; ++b) found[b] = table[b / 16 * 16 + (index[b] & 15)];
    return found;
  }
  // Looks up bytes in tables of 32 bytes, given as two halves.
  static WFACLI_INLINE Bytes looked_up(Bytes low, Bytes high, Bytes index) {
#if defined(__SSSE3__) && !defined(__AVX512BW__)
    return shuffled(low, index + 112) | shuffled(high, index - 16);  // a top bit yields a zero byte
#else
    return (index & 16) != 0 ? shuffled(high, index) : shuffled(low, index);
#endif
  }
  // Interleaves the lower or upper 8 bytes of each 16-byte chunk of a and b.
  template <bool Upper>
  static WFACLI_INLINE Bytes in_turn(Bytes a, Bytes b) {
#if defined(__AVX512BW__)
    if constexpr (Chunks == 4)
      return Upper ? (Bytes)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b)
                   : (Bytes)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Chunks == 2)
      return Upper ? (Bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b)
                   : (Bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
#endif
    constexpr auto from = [](int b16) {
      return b16 / 16 * 16 + (b16 % 16) / 2 + (Upper ? 8 : 0) + (b16 % 2) * kBytes;
    };
#if defined(__clang__)
    return reordered(a, b, from);
#else  // GCC makes other code of reordered() here
    Bytes order{};
    for (int b16 = 0; b16 < kBytes; ++b16) order[b16] = static_cast<std::uint8_t>(from(b16));
    return __builtin_shuffle(a, b, order);
#endif
  }
  // Transposes 16 rows of 16 bytes in each chunk.
  static WFACLI_INLINE void transpose(Bytes (&rows)[16]) {
    for (int round = 0; round < 4; ++round) {
      Bytes mix64[16];
      for (int r = 0; r < 8; ++r) {
        mix64[2 * r] = in_turn<false>(rows[r], rows[r + 8]);
        mix64[2 * r + 1] = in_turn<true>(rows[r], rows[r + 8]);
      }
      for (int r = 0; r < 16; ++r) rows[r] = mix64[r];
    }
  }
};

// Tables of scores for all lanes, and the scores of 16 symbols of each lane's target.
template <class Lane>
class SwLookup {
  using V = SwVector<Lane>;
  static constexpr int kLanes = V::kCount, kChunks = kLanes < 16 ? 1 : kLanes / 16;
  using C = SwChunks<kChunks>;

 public:
  // Sets the query symbol of a lane.
  WFACLI_INLINE void set_row(const SwScheme& scheme, int lane, std::uint8_t code) {
    std::uint8_t* at = tables_ + (lane % 16) * 2 * C::kBytes + lane / 16 * 16;
    std::memcpy(at, scheme.matrix[code], 16);
    std::memcpy(at + C::kBytes, scheme.matrix[code] + 16, 16);
  }
  // Looks up the next 16 symbols. `symbols(r)` returns those of lanes r, r + 16, ..., one lane after another.
  template <class Symbols>
  WFACLI_INLINE void look_up(Symbols&& symbols) {
    look_up(symbols, found_);
  }
  // The same, with results in `to`: C::kBytes bytes per symbol.
  template <class Symbols>
  WFACLI_INLINE void look_up(Symbols&& symbols, std::uint8_t* to) const {
    typename C::Bytes rows[16];
    for (int r = 0; r < 16; ++r) {
      const std::uint8_t* table = tables_ + r * 2 * C::kBytes;
      rows[r] = C::looked_up(C::load(table), C::load(table + C::kBytes), symbols(r));
    }
    C::transpose(rows);
    for (int k = 0; k < 16; ++k) C::store(to + k * C::kBytes, rows[k]);
  }
  // Returns the scores of the k-th of the 16 symbols in all lanes.
  WFACLI_INLINE typename V::Vector score(int k) const { return V::widened(found_ + k * C::kBytes); }
  static constexpr int chunks() { return kChunks; }

 private:
  alignas(64) std::uint8_t tables_[16 * 2 * C::kBytes] = {};
  alignas(64) std::uint8_t found_[16 * C::kBytes];
};

}  // namespace WFACLI_ISA
}  // namespace wfacli
