// WFA2-lib: one aligner for all pairs, no heuristics. Settings: "high" keeps all wavefronts, "biwfa" is
// bidirectional and needs little memory.
extern "C" {
#include "wavefront/wavefront_align.h"
}

#include <cstdlib>

#include "peer.hpp"

namespace bench {
namespace {

class Wfa2 final : public Peer {
 public:
  Wfa2(Task task, wavefront_memory_t memory) {
    wavefront_aligner_attr_t attributes = wavefront_aligner_attr_default;
    attributes.distance_metric = task.metric == Metric::kEdit ? edit : gap_affine;
    attributes.affine_penalties.match = 0;
    attributes.affine_penalties.mismatch = kMismatch;
    attributes.affine_penalties.gap_opening = kOpen;
    attributes.affine_penalties.gap_extension = kExtend;
    attributes.alignment_scope = task.score_only ? compute_score : compute_alignment;
    attributes.heuristic.strategy = wf_heuristic_none;
    attributes.memory_mode = memory;
    aligner_ = wavefront_aligner_new(&attributes);
  }
  ~Wfa2() override { wavefront_aligner_delete(aligner_); }
  Wfa2(const Wfa2&) = delete;
  Wfa2& operator=(const Wfa2&) = delete;

  std::int32_t cost(const char* query, int q_len, const char* target, int t_len) override {
    const int status = wavefront_align(aligner_, query, q_len, target, t_len);
    return status == WF_STATUS_ALG_COMPLETED ? std::abs(aligner_->cigar->score) : kNoAnswer;
  }

 private:
  wavefront_aligner_t* aligner_;
};

}  // namespace

std::unique_ptr<Peer> make_peer(Task task, std::string_view setting) {
  if (setting == "high") return std::make_unique<Wfa2>(task, wavefront_memory_high);
  if (setting == "biwfa") return std::make_unique<Wfa2>(task, wavefront_memory_ultralow);
  return nullptr;
}

}  // namespace bench
