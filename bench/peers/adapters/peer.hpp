// The interface through which driver.cpp times a peer. Each peer is compiled into a shared library of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace bench {

// Gap-affine costs of all measurements: a gap of l bases costs kOpen + l * kExtend, a match costs 0.
inline constexpr int kMismatch = 4, kOpen = 6, kExtend = 2;
inline constexpr std::int32_t kNoAnswer = -1;

enum class Metric { kEdit = 0, kAffine = 1 };

struct Task {
  Metric metric;
  bool score_only;
};

// Columns of wfacli.core.batch.PairBatch: n pairs whose bases are in bases[0, size).
struct Pairs {
  std::int64_t n;
  std::int64_t size;
  const char* bases;
  const std::int64_t* q_start;
  const std::int64_t* t_start;
  const std::int32_t* q_len;
  const std::int32_t* t_len;
};

// One aligner with its memory, which it keeps between pairs and repeats.
class Peer {
 public:
  virtual ~Peer() = default;
  // Encodes bases as the peer requires them; not timed. Returns them at the same positions.
  virtual const char* prepare(const Pairs& pairs) { return pairs.bases; }
  // Aligns one pair globally, with a traceback unless the task is score_only; returns its cost, or kNoAnswer.
  virtual std::int32_t cost(const char* query, int q_len, const char* target, int t_len) = 0;
};

// Returns the peer for a task under one of its settings, null if it does not support them.
std::unique_ptr<Peer> make_peer(Task task, std::string_view setting);

}  // namespace bench
