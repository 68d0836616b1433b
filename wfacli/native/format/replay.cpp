#include "format/replay.hpp"

namespace wfacli {
namespace {

std::string span_fault(const PairView& pair, const std::int32_t* span) {
  const bool query = 0 <= span[0] && span[0] <= span[1] && span[1] <= pair.query_len;
  const bool target = 0 <= span[2] && span[2] <= span[3] && span[3] <= pair.target_len;
  return query && target ? "" : "the span lies outside the sequences";
}

// Implements replay_fault(). operation_at(q, t) is the operation of two aligned symbols; score_of_run(op, len, q, t) is the score
// of an operation on the symbols at q and t.
template <class Operation, class Score>
std::string fault_of(const BatchView& batch, const AlignmentView& a, std::int64_t i, Operation&& operation_at, Score&& score_of_run) {
  if (std::string fault = span_fault(batch.pair(i), a.span + 4 * i); !fault.empty()) return fault;
  const PairView pair = batch.pair(i).part(a.span + 4 * i);
  std::int64_t q = 0, t = 0, score = 0;
  for (std::int64_t c = a.cigar_start[i]; c < a.cigar_start[i + 1]; ++c) {
    const std::int64_t len = a.cigar[c] >> 4;
    const std::uint32_t op = a.cigar[c] & 15;
    const std::string place = " at query " + std::to_string(q) + ", target " + std::to_string(t);
    const bool aligns = op == kEqual || op == kDifferent || op == kMatch;
    if (!aligns && op != kInsertion && op != kDeletion) return "unknown operation" + place;
    if ((op != kDeletion && q + len > pair.query_len) || (op != kInsertion && t + len > pair.target_len))
      return "runs past its span" + place;
    if (aligns) {
      for (std::int64_t j = 0; j < len; ++j)
        if (operation_at(pair.query[q + j], pair.target[t + j]) != op)
          return std::string("'") + "M......=X"[op] + "' does not fit the bases" + place;
    }
    score += score_of_run(op, len, pair.query + q, pair.target + t);
    q += op != kDeletion ? len : 0;
    t += op != kInsertion ? len : 0;
  }
  if (q != pair.query_len || t != pair.target_len)
    return "covers " + std::to_string(q) + " of " + std::to_string(pair.query_len) + " query bases and " +
           std::to_string(t) + " of " + std::to_string(pair.target_len) + " target bases";
  if (score != a.score[i])
    return "score " + std::to_string(a.score[i]) + ", operations score " + std::to_string(score);
  return {};
}

}  // namespace

std::string replay_fault(const BatchView& batch, const AlignmentView& a, std::int64_t i, const AlignOptions& options) {
  return fault_of(
      batch, a, i, [&](std::uint8_t q, std::uint8_t t) { return operation_of(options.ambiguous, q, t); },
      [&](std::uint32_t op, std::int64_t len, const std::uint8_t*, const std::uint8_t*) {
        return score_of(op, len, options);
      });
}

std::string replay_fault(const BatchView& batch, const AlignmentView& a, std::int64_t i, const ExtendOptions& options) {
  const SwScheme& s = options.scheme;
  const auto code = [&](std::uint8_t symbol) { return options.codes[symbol]; };
  return fault_of(
      batch, a, i,
      [&](std::uint8_t q, std::uint8_t t) {
        return code(q) == code(t) && code(q) != kNoCode && s.same[code(q)] ? kEqual : kDifferent;
      },
      [&](std::uint32_t op, std::int64_t len, const std::uint8_t* q, const std::uint8_t* t) {
        std::int64_t score = 0;
        if (op == kInsertion || op == kDeletion) return -(s.open + len * s.extend);
        for (std::int64_t k = 0; k < len; ++k) score += s.matrix[code(q[k]) % kSwCodes][code(t[k]) % kSwCodes];
        return score;
      });
}

}  // namespace wfacli
