#include "written.hpp"

#include <algorithm>

namespace wfacli {
namespace {

constexpr char kOpLetters[] = "MIDNSHP=X";

char upper(std::uint8_t c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); }
char lower(std::uint8_t c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); }

void split_runs(const PairView& pair, const std::uint32_t* cigar, std::int64_t operations, Cigar& out) {
  const std::uint8_t *q = pair.query, *t = pair.target;
  out.runs().clear();
  out.begin();
  for (std::int64_t i = 0; i < operations; ++i) {
    const std::int32_t len = static_cast<std::int32_t>(cigar[i] >> 4);
    const Op op = static_cast<Op>(cigar[i] & 15);
    if (op == kEqual || op == kDifferent) {
      for (std::int32_t j = 0; j < len; ++j) out.add(equal_by_sam(q[j], t[j]) ? kEqual : kDifferent, 1);
    } else {
      out.add(op, len);
    }
    if (op != kDeletion) q += len;
    if (op != kInsertion) t += len;
  }
}

}  // namespace

Written as_written(const PairView& pair, const std::uint32_t* cigar, std::int64_t operations, bool split_wildcards,
                   Cigar& scratch) {
  Written w{.pair = pair, .cigar = cigar, .operations = operations};
  if (split_wildcards) {
    split_runs(pair, cigar, operations, scratch);
    w.cigar = scratch.runs().data();
    w.operations = static_cast<std::int64_t>(scratch.runs().size());
  }
  // Nothing is decided run by run: which operation comes next nobody can foretell.
  const auto chosen = [](bool is, std::int64_t length) { return length & -static_cast<std::int64_t>(is); };
  for (std::int64_t i = 0; i < w.operations; ++i) {
    const std::int64_t len = w.cigar[i] >> 4;
    const std::uint32_t op = w.cigar[i] & 15;
    w.matches += chosen(op == kEqual, len);
    w.mismatches += chosen(op == kDifferent, len);
    w.inserted += chosen(op == kInsertion, len);
    w.deleted += chosen(op < kEqual && op != kInsertion, len);
    w.gaps += op < kEqual;
  }
  return w;
}

Pen add_cigar(Pen out, const Written& w, bool cigar_m) {
  for (std::int64_t i = 0; i < w.operations; ++i) {
    std::uint32_t len = w.cigar[i] >> 4, op = w.cigar[i] & 15;
    if (cigar_m && (op == kEqual || op == kDifferent)) {
      op = kMatch;
      while (i + 1 < w.operations && (w.cigar[i + 1] & 15) >= kEqual && len + (w.cigar[i + 1] >> 4) < 1u << 28)
        len += w.cigar[++i] >> 4;
    }
    out.number(len);
    out.add(kOpLetters[op]);
  }
  return out;
}

// SAM optional fields, MD: runs of matches as numbers, the target's letter at a mismatch, '^' and the
// target's letters at a deletion.
Pen add_md(Pen out, const Written& w) {
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

// minimap2's difference string, short form.
Pen add_cs(Pen out, const Written& w) {
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
      const std::uint8_t* letters = op == kInsertion ? q : t;
      for (std::int64_t j = 0; j < len; ++j) out.add(lower(letters[j]));
    }
    if (op != kDeletion) q += len;
    if (op != kInsertion) t += len;
  }
  return out;
}

}  // namespace wfacli
