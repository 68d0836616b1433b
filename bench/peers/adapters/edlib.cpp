// edlib: global edit distance; its bound is found by doubling. The path stays in edlib's form, a byte per column.
#include "edlib.h"

#include "peer.hpp"

namespace bench {
namespace {

class Edlib final : public Peer {
 public:
  explicit Edlib(bool score_only)
      : config_(edlibNewAlignConfig(-1, EDLIB_MODE_NW, score_only ? EDLIB_TASK_DISTANCE : EDLIB_TASK_PATH, nullptr,
                                    0)) {}

  std::int32_t cost(const char* query, int q_len, const char* target, int t_len) override {
    const EdlibAlignResult result = edlibAlign(query, q_len, target, t_len, config_);
    const std::int32_t distance = result.status == EDLIB_STATUS_OK ? result.editDistance : kNoAnswer;
    edlibFreeAlignResult(result);
    return distance;
  }

 private:
  EdlibAlignConfig config_;
};

}  // namespace

std::unique_ptr<Peer> make_peer(Task task, std::string_view) {
  if (task.metric != Metric::kEdit) return nullptr;
  return std::make_unique<Edlib>(task.score_only);
}

}  // namespace bench
