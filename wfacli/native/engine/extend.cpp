#include "engine/extend.hpp"

#include <algorithm>
#include <stdexcept>

namespace wfacli {
namespace {

// Maximum size of a buffer that is kept between calls.
constexpr std::size_t kMaxRetainedBytes = std::size_t{64} << 20;
constexpr std::size_t kLanesTable = std::size_t{12} << 20;  // bytes of flags above which strips are faster (as below)
constexpr std::int64_t kChunkRows = 8192, kChunkSymbols = 8 << 20;  // maximum rows and symbols processed at a time
constexpr std::int32_t kMaxLengthTogether = 16'000;  // maximum length in lanes: sums of two positions have 16 bits
constexpr std::int32_t kMinRoom = 40;                // minimum score range that makes 8 bits worth trying
// Time of a step of all lanes in strips, relative to a step in lanes: score only, and with the path. Measured on an
// EPYC Zen 4, pairs of equal length, 100 to 1,000 symbols, DNA and proteins: 1.7 to 2.2, and 1.3 to 1.7.
constexpr double kStripStep = 1.9, kStripStepPath = 1.4;

SwRule rule_of(ExtendMode mode) {
  switch (mode) {
    case ExtendMode::Local:
      return SwRule::Local;
    case ExtendMode::Semiglobal:
      return SwRule::Semiglobal;
    default:
      return SwRule::Global;
  }
}

std::int64_t gap_score(const SwScheme& s, std::int64_t length) { return length ? -(s.open + length * s.extend) : 0; }

// True if all scores of the pair fit 32 bits.
bool fits32(const SwScheme& s, const PairView& pair) {
  const std::int64_t total_length = std::int64_t{pair.query_len} + pair.target_len;
  return 3 * std::int64_t{s.open} + (total_length + 64) * s.extend < 1'400'000'000 &&
         total_length * s.max_score < 2'000'000'000;
}

template <class T>
void drop_if_large(Buffer<T>& buffer) {
  if (buffer.capacity() * sizeof(T) > kMaxRetainedBytes) buffer = Buffer<T>();
}

}  // namespace

SwScheme sw_scheme(const std::int8_t* matrix, std::int32_t num_codes, const std::uint8_t* same, std::int32_t open,
                   std::int32_t extend) {
  if (num_codes < 1 || num_codes > kQueryPad) throw std::invalid_argument("a scheme has 1 to 30 symbols");
  if (open < 0 || extend < 0 || open > kSwMaxGap || extend > kSwMaxGap || open + extend == 0)
    throw std::invalid_argument("costs of gaps out of range");
  SwScheme s;
  s.open = open;
  s.extend = extend;
  s.max_score = *std::max_element(matrix, matrix + num_codes * num_codes);
  s.min_score = *std::min_element(matrix, matrix + num_codes * num_codes);
  if (s.min_score < -127) throw std::invalid_argument("scores are -127 to 127");
  std::memset(s.matrix, std::min(s.min_score, -1), sizeof s.matrix);
  std::memset(s.same, 0, sizeof s.same);
  for (std::int32_t a = 0; a < num_codes; ++a) {
    std::memcpy(s.matrix[a], matrix + a * num_codes, static_cast<std::size_t>(num_codes));
    s.same[a] = same[a];
  }
  const auto plain = [&](std::int32_t codes) {
    for (std::int32_t a = 0; a < codes; ++a)
      for (std::int32_t b = 0; b < codes; ++b)
        if (s.matrix[a][b] != s.matrix[0][a == b ? 0 : 1]) return false;
    return true;
  };
  while (num_codes > 1 && s.matrix[0][1] < 0 && s.plain_codes < num_codes && plain(s.plain_codes + 1)) ++s.plain_codes;
  return s;
}

std::int64_t first_uncoded(const BatchView& batch, const std::uint8_t* codes, std::uint8_t* symbol) {
  std::uint8_t none[256];  // 1 for a symbol without a code
  for (int c = 0; c < 256; ++c) none[c] = codes[c] == kNoCode;
  const auto lacks = [&](const std::uint8_t* symbols, std::int32_t len) {
    std::uint8_t any = 0;  // one branch per sequence, since such symbols are rare
    for (std::int32_t i = 0; i < len; ++i) any |= none[symbols[i]];
    if (any) *symbol = *std::find_if(symbols, symbols + len, [&](std::uint8_t c) { return none[c] != 0; });
    return any != 0;
  };
  for (std::int64_t p = 0; p < batch.n; ++p) {
    const PairView pair = batch.pair(p);
    if (lacks(pair.query, pair.query_len) || lacks(pair.target, pair.target_len)) return p;
  }
  return -1;
}

Extender::Extender(const std::string& isa) {
  const KernelEntry& entry = kernels_named(isa);
  isa_ = entry.name;
  kernels_ = entry.sw();
}

void Extender::align(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                     const ExtendOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  options_ = &options;
  cancelled_ = &cancelled;
  if (out.cigar_start.empty()) out.cigar_start.push(0);
  for (std::int64_t first = 0, last = 0; first < count; first = last) {
    std::int64_t bases = 0;
    for (; last < count && last - first < kChunkRows && bases < kChunkSymbols; ++last)
      bases += batch.q_len[rows[last]] + std::int64_t{batch.t_len[rows[last]]};
    align_some(batch, rows + first, last - first, out);
  }
  drop_if_large(memory_.symbols);
  drop_if_large(memory_.rows);
  drop_if_large(memory_.table);
  drop_if_large(memory_.saved);
  drop_if_large(memory_.cigars.runs());
  drop_if_large(codes_);
}

void Extender::align_some(const BatchView& batch, const std::int32_t* rows, std::int64_t count, AlignedRows& out) {
  const ExtendOptions& options = *options_;
  const bool path = options.path || options.second_best;
  // If X-drop gave up cells on the way to the end of an extension, the prefixes may score more than was computed, so
  // the score is computed again.
  const bool again = path || options.heuristics.xdrop > 0;
  pieces_.clear();
  for (std::int64_t r = 0; r < count; ++r) pieces_.push(Piece(batch.pair(rows[r])));
  if (options.mode == ExtendMode::Extension) {
    solve(SwRule::Extension, false, true);
    for (std::size_t p = 0; again && p < pieces_.size(); ++p) {
      Piece& piece = pieces_[p];
      piece.pair.query_len = piece.answer.query_at;
      piece.pair.target_len = piece.answer.target_at;
    }
  }
  if (options.mode != ExtendMode::Extension || again) solve(rule_of(options.mode), path, false);
  const std::size_t first = out.status.size();
  for (std::int64_t r = 0; r < count; ++r) add_row(batch.pair(rows[r]), static_cast<std::size_t>(r), out);
  if (options.second_best) find_second_best(batch, rows, count, out, first, out);
}

void Extender::add_row(const PairView& pair, std::size_t at, AlignedRows& out) {
  const Piece& piece = pieces_[at];
  const SwAnswer& a = piece.answer;
  const bool ok = a.status == Status::Ok, path = options_->path || options_->second_best;
  out.status.push(static_cast<std::uint8_t>(a.status));
  out.cut.push(ok && piece.heuristic_applied);
  out.score.push(ok ? a.score : 0);
  std::int32_t span[4] = {0, pair.query_len, 0, pair.target_len};
  if (ok && path) {
    // The kernels' positions count from the ends.
    span[0] = piece.pair.query_len - a.query_at;
    span[1] = piece.pair.query_len - a.query_left;
    span[2] = piece.pair.target_len - a.target_at;
    span[3] = piece.pair.target_len - a.target_left;
  }
  const bool nothing = !ok || (path && span[0] == span[1] && span[2] == span[3]);
  for (std::int32_t place : span) out.span.push(nothing ? 0 : place);
  if (ok && options_->path)
    out.cigar.runs().append(memory_.cigars.runs().data() + a.cigar, static_cast<std::size_t>(a.runs));
  out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
}

// Append to out.second the best score of each pair outside the target range of its best alignment: before or after it.
void Extender::find_second_best(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                                const AlignedRows& found, std::size_t first, AlignedRows& out) {
  pieces_.clear();
  for (std::int64_t r = 0; r < count; ++r) {
    const std::size_t at = first + static_cast<std::size_t>(r);
    const bool ok = found.status[at] == static_cast<std::uint8_t>(Status::Ok);
    const std::int32_t* span = found.span.data() + 4 * at;
    PairView before = batch.pair(rows[r]), after = before;
    before.target_len = ok ? span[2] : 0;
    after.target += ok ? span[3] : 0;
    after.target_len -= ok ? span[3] : after.target_len;
    pieces_.push(Piece(before));
    pieces_.push(Piece(after));
  }
  solve(rule_of(options_->mode), false, false);
  for (std::int64_t r = 0; r < count; ++r) {
    const SwAnswer &a = pieces_[2 * static_cast<std::size_t>(r)].answer,
                   &b = pieces_[2 * static_cast<std::size_t>(r) + 1].answer;
    const bool ok = found.status[first + static_cast<std::size_t>(r)] == static_cast<std::uint8_t>(Status::Ok);
    if (ok && (a.status != Status::Ok || b.status != Status::Ok))
      out.status[first + static_cast<std::size_t>(r)] =
          static_cast<std::uint8_t>(a.status != Status::Ok ? a.status : b.status);
    out.second.push(ok ? std::max(a.score, b.score) : 0);
  }
}

void Extender::encode(bool forward) {
  std::size_t bytes = kSwMargin;
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    bytes += static_cast<std::size_t>(pieces_[p].pair.query_len) +
             static_cast<std::size_t>(pieces_[p].pair.target_len) + 2 * kSwMargin;
  codes_.clear();
  codes_.reserve(bytes);
  std::uint8_t* to = codes_.data();
  const auto margin = [&] { std::memset(to, kTargetPad, kSwMargin), to += kSwMargin; };
  std::uint8_t max_code = 0;
  const auto sequence = [&](const std::uint8_t* symbols, std::int32_t len) {
    const std::uint8_t* codes = options_->codes;
    for (std::int32_t i = 0; i < len; ++i) {
      to[i] = codes[symbols[forward ? i : len - 1 - i]];
      max_code = std::max(max_code, to[i]);
    }
    const std::uint8_t* begin = to;
    to += len;
    margin();
    return begin;
  };
  margin();
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    max_code = 0;
    piece.coded.query = sequence(piece.pair.query, piece.coded.query_len = piece.pair.query_len);
    piece.coded.target = sequence(piece.pair.target, piece.coded.target_len = piece.pair.target_len);
    piece.plain = max_code < options_->scheme.plain_codes;
    piece.coded_all = max_code != kNoCode;
  }
}

// Align a piece with an empty sequence, or two.
void Extender::solve_empty(Piece& piece, SwRule rule, bool path) {
  SwAnswer& a = piece.answer;
  const std::int32_t n = piece.pair.query_len, m = rule == SwRule::Global ? piece.pair.target_len : 0;
  if (rule == SwRule::Local || rule == SwRule::Extension) return;
  a.score = static_cast<std::int32_t>(gap_score(options_->scheme, n) + gap_score(options_->scheme, m));
  a.query_at = n;
  a.target_at = piece.pair.target_len;
  a.target_left = a.target_at - m;
  if (!path) return;
  Cigar& cigars = memory_.cigars;
  cigars.begin();
  a.cigar = static_cast<std::int64_t>(cigars.runs().size());
  cigars.add(kInsertion, n);
  cigars.add(kDeletion, m);
  a.runs = static_cast<std::int64_t>(cigars.runs().size()) - a.cigar;
}

void Extender::solve(SwRule rule, bool path, bool forward) {
  encode(forward);
  memory_.cigars.runs().clear();
  order_.clear();
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    const Status before = piece.answer.status;
    piece.answer = {};
    if (before != Status::Ok)
      piece.answer.status = before;  // an earlier pass has failed
    else if (!piece.coded_all)
      piece.answer.status = Status::Unsupported;
    else if (!fits32(options_->scheme, piece.pair))
      piece.answer.status = Status::LengthLimit;
    else if (piece.pair.query_len == 0 || piece.pair.target_len == 0)
      solve_empty(piece, rule, path);
    else
      order_.push(static_cast<std::int32_t>(p));
  }
  if (options_->heuristics.any() && (rule == SwRule::Extension || options_->heuristics.band))
    return solve_with_heuristics(rule, path);
  // Neighbours share a vector, so sort by length; plain and other pieces are never in one vector.
  const auto key = [&](std::int32_t p) {
    const Piece& piece = pieces_[static_cast<std::size_t>(p)];
    const std::uint64_t n = static_cast<std::uint32_t>(piece.pair.query_len),
                        m = static_cast<std::uint32_t>(piece.pair.target_len);
    return std::uint64_t{piece.plain} << 63 | (std::max(n, m) / 8) << 32 | n;
  };
  std::sort(order_.data(), order_.data() + order_.size(),
            [&](std::int32_t a, std::int32_t b) { return std::make_pair(key(a), a) < std::make_pair(key(b), b); });
  if (rule == SwRule::Local && !path && !options_->wide) solve_in(8, rule, path, order_);
  if (!options_->wide) solve_in(16, rule, path, order_);
  solve_in(32, rule, path, order_);
}

// Band of a globally aligned piece, in its kernel's coordinates.
SwBand Extender::band_of(const Piece& piece) const {
  const std::int64_t diagonal = std::int64_t{piece.coded.target_len} - piece.coded.query_len,
                     width = options_->heuristics.band;
  if (options_->mode == ExtendMode::Extension) return {diagonal - width, diagonal + width};
  return {std::min<std::int64_t>(diagonal, 0) - width, std::max<std::int64_t>(diagonal, 0) + width};
}

// Align pieces one by one under the heuristics.
void Extender::solve_with_heuristics(SwRule rule, bool path) {
  for (std::size_t k = 0; k < order_.size(); ++k) {
    Piece& piece = pieces_[static_cast<std::size_t>(order_[k])];
    if (!options_->wide) solve_piece_with_heuristics(piece, 16, rule, path);
    if (options_->wide || piece.answer.status == Status::ScoreLimit)
      solve_piece_with_heuristics(piece, 32, rule, path);
  }
}

void Extender::solve_piece_with_heuristics(Piece& piece, int bits, SwRule rule, bool path) {
  const SwTask task{&options_->scheme, rule, path, piece.plain, options_->memory_bytes, cancelled_};
  if (rule == SwRule::Extension) {
    const SwExtent found = kernels_.extent(task, bits, piece.coded, options_->heuristics, memory_);
    piece.answer = {.status = found.status, .score = found.score, .query_at = found.i, .target_at = found.j};
    piece.heuristic_applied = found.heuristic_applied;
    return;
  }
  const SwBand band = band_of(piece);
  piece.answer = kernels_.banded(task, bits, piece.coded, band, memory_);
  if (options_->mode == ExtendMode::Global)
    piece.heuristic_applied = !band.covers(piece.coded.query_len, piece.coded.target_len);
}

// Align the waiting pieces whose scores fit `bits` bits; the others stay in `waiting`.
void Extender::solve_in(int bits, SwRule rule, bool path, Buffer<std::int32_t>& waiting) {
  const SwScheme& s = options_->scheme;
  if (bits == 8 && (sw_room8(s) < kMinRoom || options_->choice == SwChoice::Strips)) return;
  SwTask task{&s, rule, path, false, options_->memory_bytes, cancelled_};
  const std::size_t count = waiting.size(),
                    lanes = static_cast<std::size_t>(bits == 8 ? kernels_.lanes8 : kernels_.lanes16);
  const auto piece = [&](std::size_t k) -> Piece& { return pieces_[static_cast<std::size_t>(waiting[k])]; };
  const auto holds = [&](const Piece& p) {
    const std::int32_t n = p.coded.query_len, m = p.coded.target_len, least = std::min(n, m);
    if (bits == 32) return true;
    if (bits == 16) return rule == SwRule::Local || sw_strips16(s);
    if (std::int64_t{least} * s.max_score <= sw_room8(s)) return true;
    return n <= kMaxLengthTogether && m <= kMaxLengthTogether && narrow_failed_ * 2 <= narrow_tried_ + 64;
  };
  left_.clear();
  for (std::size_t first = 0, last = 0; first < count; first = last) {
    if (cancelled_->is_set()) {
      for (; last < count; ++last) piece(last).answer.status = Status::Dropped;
      break;
    }
    if (!holds(piece(first))) {
      left_.push(waiting[last++]);
      continue;
    }
    task.plain = piece(first).plain;
    while (last < count && last - first < lanes && piece(last).plain == task.plain && holds(piece(last))) ++last;
    solve_lanes(bits, task, waiting.data() + first, static_cast<std::int32_t>(last - first));
    for (std::size_t k = first; k < last; ++k)
      if (bits < 32 && piece(k).answer.status == Status::ScoreLimit) {
        piece(k).answer = {};
        left_.push(waiting[k]);
      }
  }
  std::swap(waiting, left_);
}

// Align some pieces, together in one vector if that is faster.
void Extender::solve_lanes(int bits, const SwTask& task, const std::int32_t* pieces, std::int32_t count) {
  if (!in_lanes(bits, task, pieces, count)) {
    for (std::int32_t k = 0; k < count; ++k) {
      Piece& piece = pieces_[static_cast<std::size_t>(pieces[k])];
      piece.answer = kernels_.strips(task, bits == 8 ? 16 : bits, piece.coded, memory_);
    }
    return;
  }
  SwPair pairs[64] = {};
  SwAnswer answers[64];
  for (std::int32_t k = 0; k < count; ++k) pairs[k] = pieces_[static_cast<std::size_t>(pieces[k])].coded;
  kernels_.lanes(task, bits, pairs, count, memory_, answers);
  for (std::int32_t k = 0; k < count; ++k) {
    pieces_[static_cast<std::size_t>(pieces[k])].answer = answers[k];
    narrow_failed_ += bits == 8 && answers[k].status == Status::ScoreLimit;
  }
  narrow_tried_ += bits == 8 ? count : 0;
}

bool Extender::in_lanes(int bits, const SwTask& task, const std::int32_t* pieces, std::int32_t count) const {
  if (bits == 32 || options_->choice == SwChoice::Strips) return false;
  std::int64_t n = 0, m = 0;
  double strips = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    const SwPair& pair = pieces_[static_cast<std::size_t>(pieces[k])].coded;
    n = std::max<std::int64_t>(n, pair.query_len);
    m = std::max<std::int64_t>(m, pair.target_len);
    const double each = (pair.query_len + kernels_.lanes16 - 1) / kernels_.lanes16;
    strips += each * (pair.target_len + kernels_.lanes16);
  }
  if (n > kMaxLengthTogether || m > kMaxLengthTogether) return false;
  // A shorter pair continues over pads up to the longest length.
  const std::int64_t longest = std::max(n, m);
  if (task.rule != SwRule::Local && !sw_fits16(*task.scheme, longest, longest)) return false;
  if (task.path && n * m * kernels_.lanes16 > static_cast<std::int64_t>(std::min(task.memory_bytes, kLanesTable)))
    return options_->choice == SwChoice::Lanes &&
           n * m * kernels_.lanes16 <= static_cast<std::int64_t>(task.memory_bytes);
  if (options_->choice == SwChoice::Lanes) return true;
  return static_cast<double>(n * m) < strips * (task.path ? kStripStepPath : kStripStep);
}

}  // namespace wfacli
