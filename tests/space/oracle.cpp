// The canonical alignment by plain dynamic programming, written from docs/semantics.md and the definition in
// tests/oracle_spans.py; shares no code with wfacli. All scores are 64-bit.
//
// S(i, j) is the best score of query[i:] with target[j:] up to an allowed end. Inside a gap, whose opening is already
// paid, a cell's score is the maximum of S and of extending the gap. A path takes the first of insertion (piece 1,
// piece 2), deletion (piece 1, piece 2) and the diagonal that achieves S, closes a gap rather than extending it, and stops
// at allowed ends.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Score = std::int64_t;
constexpr Score kNever = -(Score{1} << 50);
enum Choice : std::uint8_t { kDiagonal = 0, kStop = 7 };  // 1 to 4: gaps, in order of priority among ties
enum Rule { kMismatch = 0, kWildcard = 1, kLiteral = 2 };

struct Gap {
  Score open, extend;
};

struct Scheme {
  Score mismatch, match, ambiguous;
  int pieces;
  Gap gaps[4];  // insertions, then deletions
};

struct Ends {
  std::int64_t query_begin, query_end, target_begin, target_end;
  bool stop(std::int64_t query_left, std::int64_t target_left) const {
    return (query_left == 0 && target_left <= target_end) || (target_left == 0 && query_left <= query_end);
  }
};

// Bases

int nucleotides(std::uint8_t c) {
  static const char* const kCodes[][2] = {{"A", "A"},   {"C", "C"},   {"G", "G"},   {"T", "T"},   {"U", "T"},   {"R", "AG"},
                                          {"Y", "CT"},  {"S", "CG"},  {"W", "AT"},  {"K", "GT"},  {"M", "AC"},  {"B", "CGT"},
                                          {"D", "AGT"}, {"H", "ACT"}, {"V", "ACG"}, {"N", "ACGT"}};
  int found = 0;
  for (const auto& code : kCodes)
    if (code[0][0] == std::toupper(c))
      for (const char* base = code[1]; *base; ++base) found |= 1 << (std::strchr("ACGT", *base) - "ACGT");
  return found;
}

bool equal_by_sam(std::uint8_t a, std::uint8_t b) {
  auto plain = [](std::uint8_t c) { return std::toupper(c) == 'U' ? 'T' : std::toupper(c); };
  return plain(a) == plain(b) && std::string("ACGT").find(static_cast<char>(plain(a))) != std::string::npos;
}

bool equal_by(int rule, std::uint8_t a, std::uint8_t b) {
  if (rule == kWildcard) return (nucleotides(a) & nucleotides(b)) != 0;
  if (rule == kLiteral) return std::toupper(a) == std::toupper(b);
  return equal_by_sam(a, b);
}

struct Equal {
  bool by_rule[128][128], by_sam[128][128];
  explicit Equal(int rule) {
    for (int a = 0; a < 128; ++a)
      for (int b = 0; b < 128; ++b) {
        by_rule[a][b] = equal_by(rule, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
        by_sam[a][b] = equal_by_sam(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
      }
  }
  // A C G T and U equal themselves.
  bool ambiguous(std::uint8_t a, std::uint8_t b) const { return !by_sam[a][a] || !by_sam[b][b]; }
};

// One pair

struct Pair {
  const std::uint8_t *query, *target;
  std::int64_t n, m;
};

class Matrix {
 public:
  Matrix(const Scheme& scheme, const Equal& equal) : scheme_(scheme), equal_(equal) {}

  // Fills from the last row to the first. Calls `after_row` after each, and stores flags if `path`.
  void fill(const Pair& pair, const Ends& ends, bool path) {
    pair_ = pair;
    const std::int64_t n = pair.n, m = pair.m, width = m + 2;
    for (auto* row : {&below_, &here_, &insertion_[0], &insertion_[1]}) row->assign(static_cast<std::size_t>(width), kNever);
    first_column_.assign(static_cast<std::size_t>(n + 1), kNever);
    if (path) flags_.resize(static_cast<std::size_t>((n + 1) * (m + 1)));
    for (auto& known : profiled_) known = false;
    for (std::int64_t i = n; i >= 0; --i) {
      if (scheme_.pieces == 1)
        row<1>(i, ends, path);
      else
        row<2>(i, ends, path);
      first_column_[static_cast<std::size_t>(i)] = here_[0];
      if (after_row) after_row(context, i, here_.data());
      std::swap(below_, here_);
    }
  }

  Score first_column(std::int64_t i) const { return first_column_[static_cast<std::size_t>(i)]; }
  const Score* first_row() const { return below_.data(); }  // after fill()
  std::uint8_t flag(std::int64_t i, std::int64_t j) const {
    return flags_[static_cast<std::size_t>(i * (pair_.m + 1) + j)];
  }

  void (*after_row)(void*, std::int64_t, const Score*) = nullptr;
  void* context = nullptr;

 private:
  Score worth(std::uint8_t a, std::uint8_t b) const {
    if (equal_.by_rule[a][b]) return scheme_.match;
    return equal_.ambiguous(a, b) ? -scheme_.ambiguous : -scheme_.mismatch;
  }
  // Scores of a query base with each base of the target.
  const Score* profile(std::uint8_t base) {
    auto& scores = profiles_[base];
    if (!profiled_[base]) {
      scores.resize(static_cast<std::size_t>(pair_.m + 1));
      for (std::int64_t j = 0; j < pair_.m; ++j)
        scores[static_cast<std::size_t>(j)] = worth(base, pair_.target[j]);
      scores[static_cast<std::size_t>(pair_.m)] = kNever;
      profiled_[base] = true;
    }
    return scores.data();
  }

  template <int kPieces>
  void row(std::int64_t i, const Ends& ends, bool path) {
    const std::int64_t n = pair_.n, m = pair_.m;
    static const Score kNothing[1] = {kNever};
    const bool diagonal = i < n;
    const Score* __restrict worth = diagonal ? profile(pair_.query[i]) : kNothing;
    const Score* __restrict below = below_.data() + 1;
    Score* __restrict here = here_.data();
    Score deletion[kPieces], open[kPieces], extend[kPieces];
    for (int p = 0; p < kPieces; ++p)
      deletion[p] = kNever, open[p] = scheme_.gaps[p].open, extend[p] = scheme_.gaps[p].extend;
    Score* __restrict insertion[2] = {insertion_[0].data(), insertion_[1].data()};
    std::uint8_t* __restrict flags = path ? flags_.data() + i * (m + 1) : nullptr;
    for (std::int64_t j = m; j >= 0; --j) {
      Score best = diagonal ? below[j] + worth[j] : kNever;
      std::uint8_t flag = kDiagonal;
      Score longer[2 * kPieces];
      for (int p = 0; p < kPieces; ++p) longer[p] = insertion[p][j] - extend[p];
      for (int p = 0; p < kPieces; ++p) longer[kPieces + p] = deletion[p] - extend[p];
      for (int g = 2 * kPieces - 1; g >= 0; --g) {  // last, the winner among ties
        const Score opened = longer[g] - open[g % kPieces];
        flag = opened >= best ? static_cast<std::uint8_t>(g + 1) : flag;
        best = std::max(best, opened);
      }
      if ((i == n || j == m) && ends.stop(n - i, m - j) && best <= 0) best = 0, flag = kStop;
      here[j] = best;
      for (int g = 0; g < 2 * kPieces; ++g) flag |= static_cast<std::uint8_t>((best >= longer[g]) << (3 + g));
      for (int p = 0; p < kPieces; ++p) insertion[p][j] = std::max(best, longer[p]);
      for (int p = 0; p < kPieces; ++p) deletion[p] = std::max(best, longer[kPieces + p]);
      if (flags) flags[j] = flag;
    }
  }

  const Scheme& scheme_;
  const Equal& equal_;
  Pair pair_{};
  std::vector<Score> below_, here_, insertion_[2], first_column_;
  std::vector<Score> profiles_[128];
  bool profiled_[128];
  std::vector<std::uint8_t> flags_;  // choice and closing gaps, at i * (m + 1) + j
};

// A CIGAR with BAM's operation codes.
struct Cigar {
  std::uint32_t* at;
  std::int64_t length = 0;
  void add(std::uint32_t operation) {
    if (length && (at[length - 1] & 15) == operation)
      at[length - 1] += 16;
    else
      at[length++] = 16 | operation;
  }
};

struct Answer {
  Score score;
  std::int32_t span[4];
  Cigar by_rule, by_sam;
};

void walk(const Pair& pair, const Matrix& matrix, const Scheme& scheme, const Equal& equal, Answer& answer) {
  std::int64_t i = answer.span[0], j = answer.span[2];
  int gap = 0;
  for (;;) {
    const std::uint8_t flag = matrix.flag(i, j);
    if (gap && (flag >> (2 + gap)) & 1) gap = 0;
    if (!gap) {
      if ((flag & 7) == kStop) break;
      gap = flag & 7;
    }
    if (gap == kDiagonal) {
      const std::uint8_t a = pair.query[i], b = pair.target[j];
      const bool charged = scheme.ambiguous != scheme.mismatch && equal.ambiguous(a, b);
      answer.by_rule.add(equal.by_rule[a][b] ? 7 : charged ? 0 : 8);
      answer.by_sam.add(equal.by_sam[pair.query[i]][pair.target[j]] ? 7 : 8);
      ++i, ++j;
      continue;
    }
    const bool insertion = gap <= scheme.pieces;
    answer.by_rule.add(insertion ? 1 : 2);
    answer.by_sam.add(insertion ? 1 : 2);
    (insertion ? i : j) += 1;
  }
  answer.span[1] = static_cast<std::int32_t>(i);
  answer.span[3] = static_cast<std::int32_t>(j);
}

void solve(const Pair& pair, Matrix& matrix, const Scheme& scheme, const Equal& equal, const Ends& ends, Answer& answer) {
  matrix.fill(pair, ends, true);
  std::int64_t i = 0, j = 0;
  Score best = matrix.first_row()[0];
  for (std::int64_t t = 1; t <= std::min(ends.target_begin, pair.m); ++t)
    if (matrix.first_row()[t] > best) best = matrix.first_row()[t], j = t;
  for (std::int64_t q = 1; q <= std::min(ends.query_begin, pair.n); ++q)
    if (matrix.first_column(q) > best) best = matrix.first_column(q), i = q, j = 0;
  answer.score = best;
  answer.span[0] = static_cast<std::int32_t>(i);
  answer.span[2] = static_cast<std::int32_t>(j);
  walk(pair, matrix, scheme, equal, answer);
}

// The end of an extension: the score of prefixes equals that of the same suffixes of the reversed sequences.
struct Furthest {
  std::int64_t n, m, query = 0, target = 0;
  Score score = kNever;
  static void look(void* self, std::int64_t i, const Score* row) {
    auto& best = *static_cast<Furthest*>(self);
    const std::int64_t query = best.n - i;
    for (std::int64_t j = best.m; j >= 0; --j) {
      const std::int64_t target = best.m - j;
      const std::int64_t both = query + target, held = best.query + best.target;
      if (row[j] < best.score) continue;
      if (row[j] > best.score || both < held || (both == held && query < best.query))
        best.score = row[j], best.query = query, best.target = target;
    }
  }
};

Pair prefixes(const Pair& pair, Matrix& matrix) {
  std::vector<std::uint8_t> query(pair.query, pair.query + pair.n), target(pair.target, pair.target + pair.m);
  std::reverse(query.begin(), query.end());
  std::reverse(target.begin(), target.end());
  Furthest furthest{pair.n, pair.m};
  matrix.context = &furthest, matrix.after_row = Furthest::look;
  matrix.fill({query.data(), target.data(), pair.n, pair.m}, {0, 0, 0, 0}, false);
  matrix.after_row = nullptr;
  return {pair.query, pair.target, furthest.query, furthest.target};
}

}  // namespace

// Arrays have one entry per pair unless noted otherwise.
//   scheme: mismatch, match, ambiguous (symbols other than A C G T U), pieces, then open and extend of each of two pieces
//   ends: free bases at query begin, query end, target begin, target end
//   starts, lengths: of query and target in bases, [pairs][2]
//   spans: [pairs][4]; cigar, sam: [sum of lengths], by the rule and by SAM's; cigar_start, sam_start: [pairs + 1]
extern "C" void oracle(std::int64_t pairs, const std::int64_t* scheme_, const std::int64_t* ends_, int extension, int rule,
                       const std::uint8_t* bases, const std::int64_t* starts, const std::int64_t* lengths, Score* scores,
                       std::int32_t* spans, std::uint32_t* cigar, std::int64_t* cigar_start, std::uint32_t* sam,
                       std::int64_t* sam_start) {
  Scheme scheme{scheme_[0], scheme_[1], scheme_[2], static_cast<int>(scheme_[3]), {}};
  for (int g = 0; g < 2 * scheme.pieces; ++g) {
    const std::int64_t* piece = scheme_ + 4 + 2 * (g % scheme.pieces);
    scheme.gaps[g] = {piece[0], piece[1]};
  }
  const Ends ends{ends_[0], ends_[1], ends_[2], ends_[3]};
  const Equal equal(rule);
  Matrix matrix(scheme, equal);
  cigar_start[0] = sam_start[0] = 0;
  for (std::int64_t p = 0; p < pairs; ++p) {
    Pair pair{bases + starts[2 * p], bases + starts[2 * p + 1], lengths[2 * p], lengths[2 * p + 1]};
    if (extension) pair = prefixes(pair, matrix);
    Answer answer{0, {}, {cigar + cigar_start[p]}, {sam + sam_start[p]}};
    solve(pair, matrix, scheme, equal, ends, answer);
    scores[p] = answer.score;
    std::copy(answer.span, answer.span + 4, spans + 4 * p);
    cigar_start[p + 1] = cigar_start[p] + answer.by_rule.length;
    sam_start[p + 1] = sam_start[p] + answer.by_sam.length;
  }
}
