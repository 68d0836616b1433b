// parasail: the whole matrix in 16-bit scores, or 32-bit ones if a score could exceed 16 bits; its "scan" functions,
// which are its fastest ones for global alignment.
#include "parasail.h"

#include "peer.hpp"

namespace bench {
namespace {

using Align = parasail_result_t* (*)(const char*, int, const char*, int, int, int, const parasail_matrix_t*);

struct Widths {
  Align narrow, wide;  // 16 and 32 bits per cell
};

Widths functions(bool score_only) {
  if (score_only) return {parasail_nw_scan_16, parasail_nw_scan_32};
  return {parasail_nw_trace_scan_16, parasail_nw_trace_scan_32};
}

class Parasail final : public Peer {
 public:
  explicit Parasail(bool score_only)
      : score_only_(score_only),
        align_(functions(score_only)),
        matrix_(parasail_matrix_create("ACGTN", 0, -kMismatch)) {}
  ~Parasail() override { parasail_matrix_free(matrix_); }
  Parasail(const Parasail&) = delete;
  Parasail& operator=(const Parasail&) = delete;

  std::int32_t cost(const char* query, int q_len, const char* target, int t_len) override {
    if (q_len == 0 || t_len == 0) return kNoAnswer;
    // No cell costs more than its row and its column as gaps, and one further gap opening.
    const bool narrow = 3 * kOpen + kExtend * (static_cast<std::int64_t>(q_len) + t_len) < 32'000;
    // In parasail a gap of one base costs the opening alone, so the opening includes the first extension.
    const Align align = narrow ? align_.narrow : align_.wide;
    parasail_result_t* result = align(query, q_len, target, t_len, kOpen + kExtend, kExtend, matrix_);
    const std::int32_t cost = parasail_result_is_saturated(result) ? kNoAnswer : -parasail_result_get_score(result);
    if (!score_only_) {
      parasail_cigar_free(parasail_result_get_cigar(result, query, q_len, target, t_len, matrix_));
    }
    parasail_result_free(result);
    return cost;
  }

 private:
  bool score_only_;
  Widths align_;
  parasail_matrix_t* matrix_;
};

}  // namespace

std::unique_ptr<Peer> make_peer(Task task, std::string_view) {
  if (task.metric != Metric::kAffine) return nullptr;
  return std::make_unique<Parasail>(task.score_only);
}

}  // namespace bench
