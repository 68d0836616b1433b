// The timed loop over pairs, and the functions that bench/peers/native.py calls.
#include <chrono>
#include <exception>

#include "peer.hpp"

extern "C" {

// Returns a peer, to be freed by peer_close, or null if it does not support the task. metric: 0 edit, 1 affine.
void* peer_open(int metric, int score_only, const char* setting) {
  try {
    return bench::make_peer({static_cast<bench::Metric>(metric), score_only != 0}, setting).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Aligns all pairs in order; writes their costs and returns seconds, or a negative number if it failed.
double peer_run(void* opened, const bench::Pairs* pairs, std::int32_t* costs) {
  auto* peer = static_cast<bench::Peer*>(opened);
  try {
    const char* bases = peer->prepare(*pairs);
    const auto begun = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < pairs->n; ++i) {
      const char* query = bases + pairs->q_start[i];
      const char* target = bases + pairs->t_start[i];
      costs[i] = peer->cost(query, pairs->q_len[i], target, pairs->t_len[i]);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  } catch (const std::exception&) {
    return -1.0;
  }
}

void peer_close(void* opened) { delete static_cast<bench::Peer*>(opened); }

}  // extern "C"
