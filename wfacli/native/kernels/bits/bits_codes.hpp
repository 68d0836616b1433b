// Bit planes for any alphabet. The symbols of a pair get dense codes, of as few bits as distinguish them.
// Included by bits_isa.cpp only; everything here exists once per instruction set.
#pragma once

#include "kernels/bits/bits_planes.hpp"
#include "kernels/kernel.hpp"

namespace wfacli {
namespace WFACLI_ISA {

// Dense codes of a pair's symbols. Symbols that occur in one sequence only match nothing, so all those of the query
// share one code, and all those of the target another.
struct DenseCodes {
  std::uint8_t query[256], target[256];
  int planes;

  explicit DenseCodes(const KernelTask& task)
      : DenseCodes(task.query, task.query_len, task.target, task.target_len) {}
  DenseCodes(const std::uint8_t* query_symbols, std::int64_t query_len, const std::uint8_t* target_symbols,
             std::int64_t target_len) {
    bool in_query[256] = {}, in_target[256] = {};
    for (std::int64_t i = 0; i < query_len; ++i) in_query[query_symbols[i]] = true;
    for (std::int64_t j = 0; j < target_len; ++j) in_target[target_symbols[j]] = true;
    int codes = 0;
    bool query_only = false, target_only = false;
    for (int c = 0; c < 256; ++c) {
      query[c] = target[c] = 0;
      if (in_query[c] && in_target[c]) query[c] = target[c] = static_cast<std::uint8_t>(codes++);
      query_only |= in_query[c] && !in_target[c];
      target_only |= in_target[c] && !in_query[c];
    }
    const std::uint8_t one = static_cast<std::uint8_t>(codes);
    codes += query_only;
    const std::uint8_t two = static_cast<std::uint8_t>(codes);
    codes += target_only;
    for (int c = 0; c < 256; ++c) {
      if (in_query[c] && !in_target[c]) query[c] = one;
      if (in_target[c] && !in_query[c]) target[c] = two;
    }
    planes = 2;
    while (1 << planes < codes) ++planes;
  }
};

// Writes bit planes of `length` codes. Plane p of codes 64 w to 64 w + 63 goes to out[w * planes + p]; the first code
// is in the lowest bit, or with `Topmost` in the highest.
template <bool Topmost>
inline void write_planes(const std::uint8_t* codes, std::int64_t length, const std::uint8_t* dense, int planes,
                         Word* out) {
  for (std::int64_t first = 0; first < length; first += 64, out += planes) {
    alignas(16) std::uint8_t chunk[64] = {};
    const std::int32_t count = length - first < 64 ? static_cast<std::int32_t>(length - first) : 64;
    for (std::int32_t k = 0; k < count; ++k) chunk[k] = dense[codes[first + k]];
    for (int p = 0; p < planes; p += 2) {
      alignas(16) std::uint8_t moved[64];  // planes_of_64 reads bits 1 and 2
      for (int k = 0; k < 64; ++k) moved[k] = static_cast<std::uint8_t>(p ? chunk[k] >> (p - 1) : chunk[k] << 1);
      const Planes two = planes_of_64(moved);
      out[p] = Topmost ? mirrored(two.low) : two.low;
      if (p + 1 < planes) out[p + 1] = Topmost ? mirrored(two.high) : two.high;
    }
  }
}

}  // namespace WFACLI_ISA
}  // namespace wfacli
