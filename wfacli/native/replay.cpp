#include "replay.hpp"

namespace wfacli {

std::string replay_fault(const BatchView& batch, const AlignmentView& a, std::int64_t i, Metric metric,
                         const Costs& costs, Ambiguous ambiguous) {
  const PairView pair = batch.pair(i);
  std::int64_t q = 0, t = 0, cost = 0;
  for (std::int64_t c = a.cigar_start[i]; c < a.cigar_start[i + 1]; ++c) {
    const std::int64_t len = a.cigar[c] >> 4;
    const std::uint32_t op = a.cigar[c] & 15;
    const std::string place = " at query " + std::to_string(q) + ", target " + std::to_string(t);
    if (op != kEqual && op != kDifferent && op != kInsertion && op != kDeletion) return "unknown operation" + place;
    if ((op != kDeletion && q + len > pair.query_len) || (op != kInsertion && t + len > pair.target_len))
      return "runs past a sequence's end" + place;
    if (op == kEqual || op == kDifferent) {
      for (std::int64_t j = 0; j < len; ++j)
        if (letters_match(ambiguous, pair.query[q + j], pair.target[t + j]) != (op == kEqual))
          return std::string(op == kEqual ? "'='" : "'X'") + " does not fit the letters" + place;
      cost += op == kEqual ? 0 : len * costs.mismatch;
    } else {
      cost += (metric == Metric::Affine ? costs.open : 0) + len * costs.extend;
    }
    q += op != kDeletion ? len : 0;
    t += op != kInsertion ? len : 0;
  }
  if (q != pair.query_len || t != pair.target_len)
    return "covers " + std::to_string(q) + " of " + std::to_string(pair.query_len) + " query letters and " +
           std::to_string(t) + " of " + std::to_string(pair.target_len) + " target letters";
  if (cost != -std::int64_t{a.score[i]})
    return "score " + std::to_string(a.score[i]) + ", operations cost " + std::to_string(cost);
  return {};
}

}  // namespace wfacli
