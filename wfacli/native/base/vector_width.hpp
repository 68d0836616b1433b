// Bytes per SIMD vector in the instruction set that the translation unit is compiled for.
#pragma once

namespace wfacli {
namespace WFACLI_ISA {

#if defined(__AVX512BW__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

}  // namespace WFACLI_ISA
}  // namespace wfacli
