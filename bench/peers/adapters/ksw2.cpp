// ksw2 as minimap2 ships it: the whole matrix in 8-bit differences, no band, no drop. Only the score at the end is
// needed, so the maximum is not tracked exactly (KSW_EZ_APPROX_MAX), which is its faster mode.
#include <array>
#include <cstdlib>
#include <vector>

#include "kalloc.h"
#include "ksw2.h"
#include "peer.hpp"

namespace bench {
namespace {

constexpr int kBases = 5;  // A C G T, and one for all others, which matches nothing

std::array<char, 256> base_codes() {
  std::array<char, 256> codes;
  codes.fill(kBases - 1);
  for (int i = 0; i < kBases - 1; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = codes[static_cast<unsigned char>("acgt"[i])] = static_cast<char>(i);
  }
  return codes;
}

class Ksw2 final : public Peer {
 public:
  explicit Ksw2(bool score_only)
      : pool_(km_init()), flags_(KSW_EZ_APPROX_MAX | (score_only ? KSW_EZ_SCORE_ONLY : 0)) {
    for (int i = 0; i < kBases * kBases; ++i) {
      const bool same = i / kBases == i % kBases && i / kBases != kBases - 1;
      matrix_[i] = static_cast<std::int8_t>(same ? 0 : -kMismatch);
    }
  }
  ~Ksw2() override {
    kfree(pool_, result_.cigar);
    km_destroy(pool_);
  }
  Ksw2(const Ksw2&) = delete;
  Ksw2& operator=(const Ksw2&) = delete;

  const char* prepare(const Pairs& pairs) override {
    if (static_cast<std::int64_t>(coded_.size()) == pairs.size) return coded_.data();
    const auto codes = base_codes();
    coded_.resize(pairs.size);
    for (std::int64_t i = 0; i < pairs.size; ++i) coded_[i] = codes[static_cast<unsigned char>(pairs.bases[i])];
    return coded_.data();
  }

  std::int32_t cost(const char* query, int q_len, const char* target, int t_len) override {
    // With query and target in this order its insertions and deletions are SAM's.
    ksw_extz2_sse(pool_, q_len, reinterpret_cast<const std::uint8_t*>(query), t_len,
                  reinterpret_cast<const std::uint8_t*>(target), kBases, matrix_, kOpen, kExtend, -1, -1, 0, flags_,
                  &result_);
    return result_.score == KSW_NEG_INF ? kNoAnswer : -result_.score;
  }

 private:
  void* pool_;
  int flags_;
  std::int8_t matrix_[kBases * kBases];
  ksw_extz_t result_{};  // keeps the memory of the last CIGAR
  std::vector<char> coded_;
};

}  // namespace

std::unique_ptr<Peer> make_peer(Task task, std::string_view) {
  if (task.metric != Metric::kAffine) return nullptr;
  return std::make_unique<Ksw2>(task.score_only);
}

}  // namespace bench
