// The DPX intrinsics that the kernels use: minima and maxima of sums, of 32 bits or two 16-bit halves.
#pragma once

namespace wfacli_emulation {

template <class F>
std::uint32_t halves(std::uint32_t a, std::uint32_t b, std::uint32_t c, F f) {
  auto low = [](std::uint32_t v) { return static_cast<std::int16_t>(v & 0xffff); };
  auto high = [](std::uint32_t v) { return static_cast<std::int16_t>(v >> 16); };
  const auto l = static_cast<std::uint16_t>(f(low(a), low(b), low(c)));
  const auto h = static_cast<std::uint16_t>(f(high(a), high(b), high(c)));
  return static_cast<std::uint32_t>(h) << 16 | l;
}
// Sums of halves wrap at 16 bits.
inline std::int16_t sum16(int a, int b) { return static_cast<std::int16_t>(static_cast<std::uint16_t>(a + b)); }

}  // namespace wfacli_emulation

inline int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
inline int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
inline int __viaddmin_s32(int a, int b, int c) { return min(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); }
inline int __viaddmax_s32(int a, int b, int c) { return max(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); }
inline unsigned __vimin3_s16x2(unsigned a, unsigned b, unsigned c) {
  return wfacli_emulation::halves(a, b, c, [](int x, int y, int z) { return min(min(x, y), z); });
}
inline unsigned __vimax3_s16x2(unsigned a, unsigned b, unsigned c) {
  return wfacli_emulation::halves(a, b, c, [](int x, int y, int z) { return max(max(x, y), z); });
}
inline unsigned __viaddmin_s16x2(unsigned a, unsigned b, unsigned c) {
  return wfacli_emulation::halves(a, b, c, [](int x, int y, int z) { return min(static_cast<int>(wfacli_emulation::sum16(x, y)), z); });
}
inline unsigned __viaddmax_s16x2(unsigned a, unsigned b, unsigned c) {
  return wfacli_emulation::halves(a, b, c, [](int x, int y, int z) { return max(static_cast<int>(wfacli_emulation::sum16(x, y)), z); });
}
inline int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
inline unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return wfacli_emulation::halves(a, b, c, [](int x, int y, int z) { return max(max(static_cast<int>(wfacli_emulation::sum16(x, y)), z), 0); });
}
inline unsigned __vmins2(unsigned a, unsigned b) {
  return wfacli_emulation::halves(a, b, 0, [](int x, int y, int) { return min(x, y); });
}
inline unsigned __vmaxs2(unsigned a, unsigned b) {
  return wfacli_emulation::halves(a, b, 0, [](int x, int y, int) { return max(x, y); });
}
inline unsigned __vadd2(unsigned a, unsigned b) {
  return wfacli_emulation::halves(a, b, 0, [](int x, int y, int) { return x + y; });
}
inline unsigned __vsub2(unsigned a, unsigned b) {
  return wfacli_emulation::halves(a, b, 0, [](int x, int y, int) { return x - y; });
}
inline unsigned __vminu2(unsigned a, unsigned b) {
  return min(a & 0xffff, b & 0xffff) | min(a >> 16, b >> 16) << 16;
}
// The same for unsigned halves.
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return max(a & 0xffff, b & 0xffff) | max(a >> 16, b >> 16) << 16;
}
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vmaxu2(a, b), c); }
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vminu2(a, b), c); }
inline unsigned __viaddmax_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vadd2(a, b), c); }
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vadd2(a, b), c); }
// Minimum, and whether it is the first operand.
inline int __vibmin_s32(int a, int b, bool* first) {
  *first = a <= b;
  return min(a, b);
}
inline unsigned __vibmin_s16x2(unsigned a, unsigned b, bool* high, bool* low) {
  *high = static_cast<std::int16_t>(a >> 16) <= static_cast<std::int16_t>(b >> 16);
  *low = static_cast<std::int16_t>(a & 0xffff) <= static_cast<std::int16_t>(b & 0xffff);
  return __vmins2(a, b);
}
inline unsigned __vibmax_s16x2(unsigned a, unsigned b, bool* high, bool* low) {
  *high = static_cast<std::int16_t>(a >> 16) >= static_cast<std::int16_t>(b >> 16);
  *low = static_cast<std::int16_t>(a & 0xffff) >= static_cast<std::int16_t>(b & 0xffff);
  return __vmaxs2(a, b);
}
