// QuickEd: edit distance, its default (exact) algorithm and parameters. The path is a string of operations. The
// algorithm leaves the score unset when only the score is requested, so both tasks make the path.
extern "C" {
#include "quicked/quicked.h"
}

#include "peer.hpp"

namespace bench {
namespace {

class Quicked final : public Peer {
 public:
  Quicked() : parameters_(quicked_default_params()) { quicked_new(&aligner_, &parameters_); }
  ~Quicked() override { quicked_free(&aligner_); }
  Quicked(const Quicked&) = delete;
  Quicked& operator=(const Quicked&) = delete;

  std::int32_t cost(const char* query, int q_len, const char* target, int t_len) override {
    const quicked_status_t status = quicked_align(&aligner_, query, q_len, target, t_len);
    if (aligner_.cigar != nullptr) {  // it would leak at the next pair
      mm_allocator_free(aligner_.mm_allocator, aligner_.cigar);
      aligner_.cigar = nullptr;
    }
    return quicked_check_error(status) ? kNoAnswer : aligner_.score;
  }

 private:
  quicked_params_t parameters_;
  quicked_aligner_t aligner_{};
};

}  // namespace

std::unique_ptr<Peer> make_peer(Task task, std::string_view) {
  if (task.metric != Metric::kEdit) return nullptr;
  return std::make_unique<Quicked>();
}

}  // namespace bench
