// ksw2's extension with a band and a Z-drop, scores alone, over columns of pairs; loaded by
// bench/tables/guided_table.py.
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "kalloc.h"
#include "ksw2.h"

// Returns seconds for n pairs in order, without the time to encode bases; scores are those of the best cell. A gap of
// l bases costs open + l * extend. The maximum is tracked exactly.
extern "C" double ksw2_run(int match, int mismatch, int open, int extend, int band, int zdrop, const char* bases,
                           std::int64_t n, const std::int64_t* q_start, const std::int64_t* t_start,
                           const std::int32_t* q_len, const std::int32_t* t_len, std::int32_t* scores) {
  constexpr int kBases = 5;  // A C G T, and one for all others, which matches nothing
  std::array<std::uint8_t, 256> codes;
  codes.fill(kBases - 1);
  for (int i = 0; i < kBases - 1; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = codes[static_cast<unsigned char>("acgt"[i])] =
        static_cast<std::uint8_t>(i);
  }
  std::array<std::int8_t, kBases * kBases> matrix;
  for (int i = 0; i < kBases * kBases; ++i) {
    const bool same = i / kBases == i % kBases && i / kBases != kBases - 1;
    matrix[i] = static_cast<std::int8_t>(same ? match : -mismatch);
  }
  void* pool = km_init();
  ksw_extz_t result{};
  std::vector<std::uint8_t> query, target;
  double seconds = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const char *q = bases + q_start[i], *t = bases + t_start[i];
    query.clear();
    target.clear();
    for (int k = 0; k < q_len[i]; ++k) query.push_back(codes[static_cast<unsigned char>(q[k])]);
    for (int k = 0; k < t_len[i]; ++k) target.push_back(codes[static_cast<unsigned char>(t[k])]);
    const auto begun = std::chrono::steady_clock::now();
    ksw_extz2_sse(pool, q_len[i], query.data(), t_len[i], target.data(), kBases, matrix.data(),
                  static_cast<std::int8_t>(open), static_cast<std::int8_t>(extend), band, zdrop, 0,
                  KSW_EZ_SCORE_ONLY | KSW_EZ_EXTZ_ONLY, &result);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    scores[i] = static_cast<std::int32_t>(result.max);
  }
  km_destroy(pool);
  return seconds;
}
