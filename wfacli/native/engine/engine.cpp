#include "engine/engine.hpp"

#include <algorithm>

namespace wfacli {
namespace {

// Maximum size of a buffer that is kept between calls.
constexpr std::size_t kMaxRetainedBytes = std::size_t{64} << 20;

std::uint8_t* with_sentinels(std::int32_t len, std::uint8_t end, Buffer<std::uint8_t>& out) {
  out.resize(static_cast<std::size_t>(len) + 2 * kSentinels);
  std::uint8_t* first = out.data() + kSentinels;
  std::memset(out.data(), end, kSentinels);
  std::memset(first + len, end, kSentinels);
  return first;
}

// Encode a sequence of A C G T only: folding the case suffices under every rule for ambiguous bases.
void fold(const std::uint8_t* symbols, std::int32_t len, bool reversed, std::uint8_t* __restrict to) {
  const std::uint8_t* from = symbols + len;
  if (reversed)
    for (std::int32_t i = 0; i < len; ++i) to[i] = from[-1 - i] & 0xdf;
  else
    for (std::int32_t i = 0; i < len; ++i) to[i] = symbols[i] & 0xdf;
}

void encode_symbols(const std::uint8_t* symbols, std::int32_t len, const std::uint8_t (&codes)[256], bool reversed,
                    std::uint8_t* to) {
  for (std::int32_t i = 0; i < len; ++i) to[i] = codes[symbols[reversed ? len - 1 - i : i]];
}

// Convert a cost in kernel units to a score in the user's scheme.
std::int64_t user_score(std::int64_t units, const PairView& pair, const AlignOptions& options) {
  const std::int64_t cost = units * options.unit;
  const std::int64_t earned = std::int64_t{options.match} * (std::int64_t{pair.query_len} + pair.target_len);
  return options.match ? (earned - cost) / 2 : -cost;
}

// Maximum cost in kernel units.
std::int32_t max_units(const AlignOptions& options) {
  constexpr std::int32_t kMost = INT32_MAX / 2;
  return options.max_cost < 0 ? kMost : std::min(options.max_cost / options.unit, kMost);
}

// True if bases of the pair match when their codes share a bit, not when the codes are equal.
bool by_bits(std::uint8_t flags, const AlignOptions& options) {
  return matches_by_bits(options.ambiguous) && (flags & kNonAcgt);
}

// True if the algorithm supports ambiguous bases with a penalty of their own: those that compute all cells.
bool charges_ambiguous(Algorithm algorithm) { return algorithm == Algorithm::Difference || algorithm == Algorithm::Gotoh; }

bool is_edit_distance(const AlignOptions& o) {
  const Costs& c = o.costs;
  const bool unit = c.mismatch == 1 && c.pieces == 1 && c.gap[0].open == 0 && c.gap[0].extend == 1;
  return unit && o.match == 0 && !o.extension && !o.free.any() && !o.heuristics.any();
}

// Score of a CIGAR. Under a heuristic it may differ from the kernel's cost: its rows may open a second gap next to
// another, where one longer gap is cheaper.
std::int64_t score_of_path(const std::uint32_t* run, const std::uint32_t* end, const AlignOptions& options) {
  std::int64_t score = 0;
  for (; run < end; ++run) score += score_of(*run & 15, *run >> 4, options);
  return score;
}

template <class T>
void drop_if_large(Buffer<T>& buffer, std::size_t bytes) {
  if (buffer.capacity() * sizeof(T) > bytes) buffer = Buffer<T>();
}

}  // namespace

void add_row(const PairView& pair, const KernelAnswer& a, std::int64_t cigar_end, AlignedRows& out) {
  const bool ok = a.status == Status::Ok;
  out.status.push(static_cast<std::uint8_t>(a.status));
  out.cut.push(ok && a.heuristic_applied);
  out.score.push(ok ? static_cast<std::int32_t>(a.score) : 0);
  std::int32_t* span = out.span.extend(4);
  span[0] = ok ? a.query_skip : 0;
  span[1] = ok ? pair.query_len - a.query_skip_end : 0;
  span[2] = ok ? a.target_skip : 0;
  span[3] = ok ? pair.target_len - a.target_skip_end : 0;
  out.cigar_start.push(cigar_end);
}

void set_score(KernelAnswer& answer, std::int64_t score) {
  answer.score = score;
  if (score <= INT32_MIN || score > INT32_MAX) answer = {.status = Status::ScoreRange};
}

Status user_status(Status status, const KernelTask& task, const AlignOptions& options) {
  if (status != Status::ScoreLimit) return status;
  return options.max_cost >= 0 && options.max_cost / options.unit <= task.max_score ? status : Status::WorkLimit;
}

std::int64_t score_of(std::uint32_t op, std::int64_t length, const AlignOptions& options) {
  const Costs& c = options.costs;
  if (op == kEqual) return length * options.match;
  if (op == kDifferent) return -length * c.mismatch;
  if (op == kMatch) return -length * c.ambiguous;
  const auto by = [&](const GapPiece& gap) { return gap.open + length * gap.extend; };
  return -(c.pieces == 1 ? by(c.gap[0]) : std::min(by(c.gap[0]), by(c.gap[1])));
}

Aligner::Aligner(const std::string& isa) : entry_(kernels_named(isa)) {}

void Aligner::align(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                    const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  if (out.cigar_start.empty()) out.cigar_start.push(0);
  if (options.algorithm == Algorithm::Lanes) {
    align_lanes(batch, rows, count, options, cancelled, out);
  } else if (options.algorithm == Algorithm::Reads) {
    align_reads(batch, rows, count, options, cancelled, out);
  } else if (options.algorithm == Algorithm::Inside) {
    align_inside(batch, rows, count, options, cancelled, out);
  } else {
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t i = rows[r];
      const Work work{batch.pair(i), !(batch.flags[i] & kNonAcgt), batch.est_edits[i], options, cancelled};
      out.cigar.begin();
      const std::size_t first = out.cigar.runs().size();
      KernelAnswer answer = align_pair(work, out.cigar);
      const Buffer<std::uint32_t>& runs = out.cigar.runs();
      if (answer.heuristic_applied && runs.size() > first)
        set_score(answer, score_of_path(runs.data() + first, runs.data() + runs.size(), options));
      if (answer.status != Status::Ok || !options.path) out.cigar.drop();
      add_row(work.pair, answer, static_cast<std::int64_t>(out.cigar.runs().size()), out);
    }
  }
  release_excess();
}

// Align plain pairs many at a time; other pairs are Unsupported.
void Aligner::align_lanes(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                          const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  constexpr std::int64_t kChunk = 512;
  const bool supported = is_edit_distance(options) && options.max_cost < 0;
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t last = first + kChunk < count ? first + kChunk : count;
    const auto takes = [&](std::int64_t r) { return supported && !(batch.flags[rows[r]] & kNonAcgt); };
    pairs_.clear();
    for (std::int64_t r = first; r < last; ++r)
      if (takes(r)) pairs_.push(batch.pair(rows[r]));
    lanes_.resize(pairs_.size());
    const LanesTask task{pairs_.data(), static_cast<std::int32_t>(pairs_.size()), options.path, options.words,
                         options.table_bytes, &cancelled};
    std::int64_t end = static_cast<std::int64_t>(out.cigar.runs().size());
    entry_.lanes(task, memory_.bits, out.cigar, lanes_.data());
    for (std::int64_t r = first, next = 0; r < last; ++r) {
      KernelAnswer answer{.status = Status::Unsupported};
      if (takes(r)) {
        const LanesAnswer& found = lanes_[static_cast<std::size_t>(next++)];
        answer = {.status = found.status, .score = -found.score};
        end = options.path ? found.cigar_end : end;
      }
      add_row(batch.pair(rows[r]), answer, end, out);
    }
  }
}

// Align short pairs many at a time.
void Aligner::align_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                          const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  constexpr std::int64_t kChunk = 8192;
  const bool supported = !options.extension && !options.heuristics.any();
  const std::int32_t max_score = max_units(options);
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t chunk = std::min(kChunk, count - first);
    take_reads(batch, rows + first, supported ? chunk : 0, options);
    reads_.resize(pairs_.size());
    const ReadsTask task{pairs_.data(), masks_.data(),       static_cast<std::int32_t>(pairs_.size()),
                         options.units, options.free,        options.path,
                         max_score,     options.table_bytes, &cancelled};
    entry_.difference_reads(task, memory_.difference, reads_.data());
    std::size_t next = 0;
    for (std::int64_t r = first; r < first + chunk; ++r) {
      const std::int32_t i = rows[r];
      KernelAnswer answer{.status = Status::Unsupported};
      if (supported && !by_bits(batch.flags[i], options)) {
        const ReadsAnswer& found = reads_[next++];
        answer.status = found.status;
        if (found.status == Status::Ok) {
          set_score(answer, user_score(found.score, batch.pair(i), options));
          answer.query_skip = found.query_skip, answer.query_skip_end = found.query_skip_end;
          answer.target_skip = found.target_skip, answer.target_skip_end = found.target_skip_end;
          if (answer.status == Status::Ok)
            out.cigar.runs().append(memory_.difference.cigars.data() + found.cigar,
                                    static_cast<std::size_t>(found.runs));
        }
      }
      add_row(batch.pair(i), answer, static_cast<std::int64_t>(out.cigar.runs().size()), out);
    }
  }
}

// Fill pairs_ and masks_, and codes_ for pairs with bases other than A C G T. Leave out pairs that are compared by
// shared bits.
void Aligner::take_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                         const AlignOptions& options) {
  pairs_.clear();
  masks_.clear();
  const Codes& codes = codes_of(options.ambiguous);
  std::size_t bytes = 0;
  const auto coded = [&](std::int32_t i) {
    return (batch.flags[i] & kNonAcgt) && batch.q_len[i] <= kMaxReadsLength && batch.t_len[i] <= kMaxReadsLength;
  };
  for (std::int64_t r = 0; r < count; ++r)
    if (coded(rows[r])) bytes += static_cast<std::size_t>(batch.q_len[rows[r]] + batch.t_len[rows[r]]);
  codes_.resize(bytes + 64);
  std::memset(codes_.data() + bytes, 0, 64);
  std::uint8_t* to = codes_.data();
  for (std::int64_t r = 0; r < count; ++r) {
    if (by_bits(batch.flags[rows[r]], options)) continue;
    PairView pair = batch.pair(rows[r]);
    masks_.push(coded(rows[r]) ? 0xff : 0xdf);  // 0xdf folds the case of A C G T; codes keep all bits
    if (coded(rows[r])) {
      encode_symbols(pair.query, pair.query_len, codes.query, false, to);
      encode_symbols(pair.target, pair.target_len, codes.target, false, to + pair.query_len);
      pair.query = to;
      pair.target = to + pair.query_len;
      to += pair.query_len + pair.target_len;
    }
    pairs_.push(pair);
  }
}

// Align one pair; the score of the answer is in the user's scheme.
KernelAnswer Aligner::align_pair(const Work& whole, Cigar& cigar) {
  const AlignOptions& options = whole.options;
  Work work = whole;
  PairView& pair = work.pair;
  // Offsets, diagonals and sums of both lengths must fit 32 bits.
  if (std::int64_t{pair.query_len} + pair.target_len > INT32_MAX / 2) return {.status = Status::LengthLimit};
  const bool charged = options.ambiguous == Ambiguous::Charged && !work.plain;
  if (charged && !charges_ambiguous(options.algorithm)) return {.status = Status::Unsupported};
  KernelAnswer end;
  if (options.extension) {
    encode(pair, work.plain, options.ambiguous, false);
    KernelTask task = task_of(work);
    task.may_return_work_limit = !task.heuristics.any();
    end = find_end(task, charged ? Algorithm::Gotoh : options.algorithm, cigar);
    if (end.status != Status::Ok) return {.status = user_status(end.status, task, options)};
    pair.query_len -= end.query_skip_end;
    pair.target_len -= end.target_skip_end;
    if (!task.path) {
      set_score(end, user_score(end.score, pair, options));
      return end;
    }
  }
  encode(pair, work.plain, options.ambiguous, true);
  KernelTask task = task_of(work);
  if (options.extension) task.heuristics = {};
  KernelAnswer answer = solve(task, options.algorithm, cigar);
  if (answer.status != Status::Ok) return {.status = user_status(answer.status, task, options)};
  set_score(answer, user_score(answer.score, pair, options));
  if (options.max_cost >= 0 && answer.score < -options.max_cost) return {.status = Status::ScoreLimit};
  answer.query_skip_end += end.query_skip_end;
  answer.target_skip_end += end.target_skip_end;
  answer.heuristic_applied |= end.heuristic_applied;
  return answer;
}

// Find the end of an extension. A wavefront is faster than all cells, and takes less memory, until it has many edits.
KernelAnswer Aligner::find_end(const KernelTask& task, Algorithm algorithm, Cigar& cigar) {
  if (algorithm != Algorithm::Gotoh) {
    const KernelAnswer end = entry_.wavefront_extension(task, memory_.wavefront, cigar);
    const bool gave_up = end.status == Status::WorkLimit || end.status == Status::MemoryLimit;
    if (!gave_up || task.heuristics.any()) return end;
  }
  return entry_.gotoh_extension(task, memory_.gotoh, cigar);
}

KernelAnswer Aligner::solve(const KernelTask& task, Algorithm algorithm, Cigar& cigar) {
  switch (algorithm) {
    case Algorithm::Stripes: return entry_.stripes(task, memory_.bits, cigar);
    case Algorithm::Difference: return entry_.difference(task, memory_.difference, cigar);
    case Algorithm::Gotoh: return entry_.gotoh(task, memory_.gotoh, cigar);
    default: return entry_.wavefront(task, memory_.wavefront, cigar);
  }
}

KernelTask Aligner::task_of(const Work& work) {
  const AlignOptions& options = work.options;
  Costs costs = options.units;
  if (work.plain) costs.ambiguous = costs.mismatch;
  const std::int32_t unit = options.unit;
  Heuristics heuristics = options.heuristics;
  heuristics.drop = (2 * heuristics.drop + unit - 1) / unit;
  if (heuristics.zdrop > 0) heuristics.zdrop = 2 * heuristics.zdrop / unit + 1;
  std::int32_t max_score = max_units(options);
  const double cap = options.cap_base + options.cap_share * std::max(work.pair.query_len, work.pair.target_len);
  if (cap > 0 && cap < max_score) max_score = static_cast<std::int32_t>(cap);
  // Assume that mismatches, insertions and deletions are about a third of the edits each.
  const std::int64_t edit = (costs.mismatch + 2 * (costs.gap[0].open + costs.gap[0].extend) + 2) / 3;
  return {.query = query_.data(),
          .target = target_.data(),
          .query_len = work.pair.query_len,
          .target_len = work.pair.target_len,
          .by_bits = matches_by_bits(options.ambiguous) && !work.plain,
          .wildcards = options.ambiguous == Ambiguous::Wildcard && !work.plain,
          .costs = costs,
          .free = options.free,
          // The unaligned ends and the score under a heuristic are known only from the path.
          .path = options.path || options.free.any() || options.heuristics.any(),
          .memory = options.memory,
          .max_score = max_score,
          .estimate = work.estimate < 0
                          ? -1
                          : static_cast<std::int32_t>(std::min<std::int64_t>(work.estimate * edit, INT32_MAX / 2)),
          .table_bytes = options.table_bytes,
          .checkpoint_bytes = options.checkpoint_bytes,
          .heuristics = heuristics,
          .cancelled = &work.cancelled,
          .may_return_work_limit = cap > 0};
}

void Aligner::encode(const PairView& pair, bool plain, Ambiguous rule, bool reversed) {
  const Codes& codes = codes_of(rule);
  std::uint8_t* q = with_sentinels(pair.query_len, plain ? 1 : codes.query_end, query_.codes);
  std::uint8_t* t = with_sentinels(pair.target_len, plain ? 2 : codes.target_end, target_.codes);
  if (plain) {
    fold(pair.query, pair.query_len, reversed, q);
    fold(pair.target, pair.target_len, reversed, t);
  } else {
    encode_symbols(pair.query, pair.query_len, codes.query, reversed, q);
    encode_symbols(pair.target, pair.target_len, codes.target, reversed, t);
  }
}

void Aligner::release_excess() {
  const auto trim = [](auto&... buffers) { (drop_if_large(buffers, kMaxRetainedBytes), ...); };
  WavefrontMemory& w = memory_.wavefront;
  for (RowMemory* rows : {&w.table, &w.ring, &w.behind}) trim(rows->offsets, rows->rows);
  trim(w.ranges, query_.codes, target_.codes);
  BitsMemory& b = memory_.bits;
  trim(b.planes, b.trace, b.state, b.events);
  DifferenceMemory& d = memory_.difference;
  trim(d.text, d.rows, d.table, d.saved, d.cigars, d.kmers, d.absent_seeds, codes_);
  InsideMemory& i = memory_.inside;
  GotohMemory& g = memory_.gotoh;
  trim(g.text, g.rows, g.saved, g.table);
  trim(i.planes.rows, i.planes.columns, i.row, i.first_row, i.cost, i.first_cost);
}

}  // namespace wfacli
