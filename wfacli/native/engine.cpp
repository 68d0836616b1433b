#include "engine.hpp"

#include <numeric>
#include <stdexcept>

namespace wfacli {
namespace {

constexpr std::size_t kSentinels = 16;
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;  // memory that a thread keeps between pairs

// Where all letters are A C G T, folding their case is code enough under every rule.
void fold_reversed(const std::uint8_t* letters, std::int32_t len, std::uint8_t end, Buffer<std::uint8_t>& out) {
  out.resize(static_cast<std::size_t>(len) + kSentinels);
  std::uint8_t* __restrict to = out.data();
  const std::uint8_t* from = letters + len;
  for (std::int32_t i = 0; i < len; ++i) to[i] = from[-1 - i] & 0xdf;
  std::memset(to + len, end, kSentinels);
}

void encode_reversed(const std::uint8_t* letters, std::int32_t len, const std::uint8_t (&codes)[256],
                     std::uint8_t end, Buffer<std::uint8_t>& out) {
  out.resize(static_cast<std::size_t>(len) + kSentinels);
  std::uint8_t* to = out.data();
  for (std::int32_t i = len; i > 0; --i) *to++ = codes[letters[i - 1]];
  std::memset(to, end, kSentinels);
}

template <class T>
void drop_if_large(Buffer<T>& buffer, std::size_t bytes) {
  if (buffer.capacity() * sizeof(T) > bytes) buffer = Buffer<T>();
}

}  // namespace

Aligner::Aligner(const std::string& isa) {
  int count = 0;
  const KernelEntry* entries = kernel_table(count);
  for (int i = 0; i < count; ++i)
    if (isa.empty() || isa == entries[i].name) entry_ = entries[i];
  if (!entry_.kernel) throw std::invalid_argument("this machine has no instruction set named " + isa);
}

void Aligner::align(const BatchView& batch, const std::int32_t* rows, std::int64_t count,
                    const AlignOptions& options, const CancelFlag& cancelled, AlignedRows& out) {
  out.cigar_start.push(0);
  for (std::int64_t r = 0; r < count; ++r) {
    const PairView pair = batch.pair(rows[r]);
    std::int32_t score = 0;
    const Status status = align_pair(pair, batch.flags[rows[r]], options, cancelled, out, score);
    const bool ok = status == Status::Ok;
    out.status.push(static_cast<std::uint8_t>(status));
    out.score.push(score);
    const std::int32_t span[] = {0, ok ? pair.query_len : 0, 0, ok ? pair.target_len : 0};
    out.span.append(span, 4);
    out.cigar_start.push(static_cast<std::int64_t>(out.cigar.runs().size()));
  }
  release_excess();
}

Status Aligner::align_pair(const PairView& pair, std::uint8_t flags, const AlignOptions& options, const CancelFlag& cancelled,
                           AlignedRows& out, std::int32_t& score) {
  // Offsets and diagonals are 32 bits wide, and a sum of both lengths must fit too.
  if (std::int64_t{pair.query_len} + pair.target_len > INT32_MAX / 2) return Status::LengthLimit;
  const bool plain = !(flags & kNonAcgt);
  if (plain) {
    fold_reversed(pair.query, pair.query_len, 1, query_);
    fold_reversed(pair.target, pair.target_len, 2, target_);
  } else {
    const Codes& codes = codes_of(options.ambiguous);
    encode_reversed(pair.query, pair.query_len, codes.query, codes.query_end, query_);
    encode_reversed(pair.target, pair.target_len, codes.target, codes.target_end, target_);
  }
  // A unit that divides all costs leaves fewer scores to visit and changes no comparison.
  const Costs& c = options.costs;
  const std::int32_t unit = std::gcd(std::gcd(c.mismatch, c.open), c.extend);
  const WavefrontTask task{.query = query_.data(),
                           .target = target_.data(),
                           .query_len = pair.query_len,
                           .target_len = pair.target_len,
                           .costs = {c.mismatch / unit, c.open / unit, c.extend / unit},
                           .metric = options.metric,
                           .wildcard = options.ambiguous == Ambiguous::Wildcard && !plain,
                           .memory = options.memory,
                           .max_score = INT32_MAX / 2 / unit,
                           .table_bytes = options.table_bytes,
                           .checkpoint_bytes = options.checkpoint_bytes,
                           .cancelled = &cancelled};
  out.cigar.begin();
  const WavefrontAnswer answer = entry_.kernel(task, memory_, out.cigar);
  if (answer.status == Status::Ok) {
    score = -answer.score * unit;
  } else {
    out.cigar.drop();
  }
  return answer.status;
}

void Aligner::release_excess() {
  for (RowMemory* rows : {&memory_.table, &memory_.ring}) {
    drop_if_large(rows->offsets, kKeptBytes);
    drop_if_large(rows->rows, kKeptBytes);
  }
  drop_if_large(query_, kKeptBytes);
  drop_if_large(target_, kKeptBytes);
}

}  // namespace wfacli
