#include "format/sam_alignment.hpp"

#include <algorithm>

#include "base/shuffle.hpp"

namespace wfacli {
namespace {

constexpr char kOperations[] = "MIDNSHP=X";

char upper(std::uint8_t c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); }
char lower(std::uint8_t c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); }

using Runs = std::uint32_t __attribute__((vector_size(16)));

// Sums of operation lengths, four CIGAR elements at a time. Sequences are shorter than 2^31, so 32-bit lanes cannot
// overflow.
struct RunSums {
  static constexpr int kLanes = sizeof(Runs) / sizeof(std::uint32_t);
  Runs matches{}, mismatches{}, inserted{}, deleted{}, gaps{};

  // Adds four elements at `run`; lanes whose `counted` is 0 (not ~0) are ignored.
  void add(const std::uint32_t* run, Runs counted) {
    Runs runs;
    std::memcpy(&runs, run, sizeof runs);
    const Runs ops = runs & 15, len = (runs >> 4) & counted;
    const auto are = [&](Op op) { return static_cast<Runs>(ops == static_cast<std::uint32_t>(op)); };
    matches += len & are(kEqual);
    mismatches += len & are(kDifferent);
    inserted += len & are(kInsertion);
    deleted += len & are(kDeletion);
    gaps -= (are(kInsertion) | are(kDeletion)) & counted;
  }
  static std::int64_t sum(Runs lanes) {
    lanes += reordered(lanes, lanes, [](int lane) { return lane ^ 2; });
    lanes += reordered(lanes, lanes, [](int lane) { return lane ^ 1; });
    return lanes[0];
  }
};

}  // namespace

void resolve_matches(SamAlignment& w, Cigar& out) {
  const std::uint8_t *q = w.pair.query, *t = w.pair.target;
  out.runs().clear();
  out.begin();
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const std::int32_t len = static_cast<std::int32_t>(w.cigar[i] >> 4);
    const Op op = static_cast<Op>(w.cigar[i] & 15);
    if (op == kEqual || op == kDifferent || op == kMatch) {
      for (std::int32_t j = 0; j < len; ++j) out.add(equal_by_sam(q[j], t[j]) ? kEqual : kDifferent, 1);
    } else {
      out.add(op, len);
    }
    if (op != kDeletion) q += len;
    if (op != kInsertion) t += len;
  }
  w.cigar = out.runs().data();
  w.operations = static_cast<std::int64_t>(out.runs().size());
}

// Branch-free over the operations, since their order is unpredictable.
void count_operations(SamAlignment& w) {
  constexpr Runs kAll = {~0u, ~0u, ~0u, ~0u}, kPlace = {0, 1, 2, 3};
  RunSums sums;
  std::int64_t i = 0;
  for (; i + RunSums::kLanes <= w.operations; i += RunSums::kLanes) sums.add(w.cigar + i, kAll);
  const auto rest = static_cast<std::uint32_t>(w.operations - i);
  if (w.operations >= RunSums::kLanes) {
    sums.add(w.cigar + w.operations - RunSums::kLanes, kPlace >= RunSums::kLanes - rest);
  } else {
    std::uint32_t few[RunSums::kLanes] = {};
    for (; i < w.operations; ++i) few[i] = w.cigar[i];
    sums.add(few, kAll);
  }
  w.matches = RunSums::sum(sums.matches);
  w.mismatches = RunSums::sum(sums.mismatches);
  w.inserted = RunSums::sum(sums.inserted);
  w.deleted = RunSums::sum(sums.deleted);
  w.gaps = RunSums::sum(sums.gaps);
}

std::int64_t count_ambiguous(const SamAlignment& w) {
  const auto other = [](std::uint8_t symbol) {
    switch (symbol | 32) {
      case 'a':
      case 'c':
      case 'g':
      case 't':
      case 'u':
        return false;
      default:
        return true;
    }
  };
  const std::uint8_t *q = w.pair.query, *t = w.pair.target;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const std::int64_t len = w.cigar[i] >> 4;
    const std::uint32_t op = w.cigar[i] & 15;
    const bool in_query = op != kDeletion, in_target = op != kInsertion;
    for (std::int64_t j = 0; j < len; ++j) count += (in_query && other(q[j])) || (in_target && other(t[j]));
    if (in_query) q += len;
    if (in_target) t += len;
  }
  return count;
}

std::int64_t best_part(const std::uint32_t* cigar, std::int64_t operations, const OperationScores& p) {
  std::int64_t score = 0, best = 0;
  for (std::int64_t i = 0; i < operations; ++i) {
    const std::int64_t len = cigar[i] >> 4;
    const std::uint32_t op = cigar[i] & 15;
    if (op == kEqual) {
      best = std::max(best, score += p.match * len);
      continue;
    }
    std::int64_t cost = (op == kMatch ? p.ambiguous : p.mismatch) * len;
    if (op == kInsertion || op == kDeletion) {
      cost = p.gap[0].open + p.gap[0].extend * len;
      if (p.pieces > 1) cost = std::min(cost, p.gap[1].open + p.gap[1].extend * len);
    }
    score = std::max<std::int64_t>(0, score - cost);
  }
  return best;
}

namespace {

// Calls take(length, operation) for each element of the CIGAR as written; kJoined: neighbouring '=' and 'X' are one M.
template <bool kJoined, class Take>
WFACLI_INLINE void each_run(const SamAlignment& w, Take take) {
  // Local copies: `take` may write chars, which might alias the members of `w`.
  const std::uint32_t *run = w.cigar, *const end = run + w.operations;
  while (run < end) {
    std::uint32_t len = *run >> 4, op = *run & 15;
    ++run;
    if (kJoined && (op == kEqual || op == kDifferent)) {
      op = kMatch;
      while (run < end && (*run & 15) >= kEqual && len + (*run >> 4) < 1u << 28) len += *run++ >> 4;
    }
    take(len, op);
  }
}

template <bool kJoined>
Pen add_runs(Pen out, const SamAlignment& w) {
  each_run<kJoined>(w, [&](std::uint32_t len, std::uint32_t op) {
    out.number(len);
    out.add(kOperations[op]);
  });
  return out;
}

}  // namespace

void add_written_runs(const SamAlignment& w, bool cigar_m, Buffer<std::uint32_t>& out) {
  if (cigar_m)
    each_run<true>(w, [&](std::uint32_t len, std::uint32_t op) { out.push(len << 4 | op); });
  else
    out.append(w.cigar, static_cast<std::size_t>(w.operations));
}

Pen add_cigar(Pen out, const SamAlignment& w, bool cigar_m) {
  return cigar_m ? add_runs<true>(out, w) : add_runs<false>(out, w);
}

// Writes MD (SAM optional fields): numbers of matches, the target's base at a mismatch, '^' and the target's bases at a
// deletion.
Pen add_md(Pen out, const SamAlignment& w) {
  const std::uint8_t* t = w.pair.target;
  std::int64_t run = 0;
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const std::int64_t len = w.cigar[i] >> 4;
    const std::uint32_t op = w.cigar[i] & 15;
    if (op == kEqual) {
      run += len;
    } else if (op == kDifferent) {
      for (std::int64_t j = 0; j < len; ++j, run = 0) {
        out.number(run);
        out.add(upper(t[j]));
      }
    } else if (op == kDeletion) {
      out.number(run);
      run = 0;
      out.add('^');
      for (std::int64_t j = 0; j < len; ++j) out.add(upper(t[j]));
    }
    if (op != kInsertion) t += len;
  }
  out.number(run);
  return out;
}

// Writes the difference string cs of minimap2, short form.
Pen add_cs(Pen out, const SamAlignment& w) {
  const std::uint8_t *q = w.pair.query, *t = w.pair.target;
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const std::int64_t len = w.cigar[i] >> 4;
    const std::uint32_t op = w.cigar[i] & 15;
    if (op == kEqual) {
      out.add(':');
      out.number(len);
    } else if (op == kDifferent) {
      for (std::int64_t j = 0; j < len; ++j) {
        const char change[] = {'*', lower(t[j]), lower(q[j])};
        out.add(std::string_view(change, 3));
      }
    } else {
      out.add(op == kInsertion ? '+' : '-');
      const std::uint8_t* symbols = op == kInsertion ? q : t;
      for (std::int64_t j = 0; j < len; ++j) out.add(lower(symbols[j]));
    }
    if (op != kDeletion) q += len;
    if (op != kInsertion) t += len;
  }
  return out;
}

}  // namespace wfacli
