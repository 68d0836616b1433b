#include "refine/inversions.hpp"

#include <algorithm>

#include "base/reverse_complement.hpp"
#include "io/builder.hpp"

namespace wfacli {
namespace {

// Appends bases at a multiple of 16 bytes; returns where they are.
std::uint8_t* add_bases(const std::uint8_t* from, std::int32_t count, Buffer<std::uint8_t>& bases) {
  std::uint8_t* to = bases.extend(aligned(static_cast<std::size_t>(count)));
  return std::copy_n(from, count, to), to;
}

}  // namespace

InvertedPairs inverted_pairs(const BatchView& batch, const std::int32_t* rows, const std::int32_t* spans,
                             std::int64_t n) {
  InvertedPairs out;
  for (std::int64_t i = 0; i < n; ++i, spans += 4) {
    const PairView part = batch.pair(rows[i]).part(spans);
    out.q_start.push(static_cast<std::int64_t>(out.bases.size()));
    reverse_complement(add_bases(part.query, part.query_len, out.bases), static_cast<std::size_t>(part.query_len));
    out.t_start.push(static_cast<std::int64_t>(out.bases.size()));
    add_bases(part.target, part.target_len, out.bases);
    out.q_len.push(part.query_len);
    out.t_len.push(part.target_len);
    out.flags.push(batch.flags[rows[i]]);
  }
  out.bases.extend(kOverread);
  return out;
}

OppositeReads opposite_reads(const BatchView& batch, const std::int32_t* rows, std::int64_t n) {
  OppositeReads out;
  const MappedView& m = batch.mapped;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t row = rows[i];
    const auto length = static_cast<std::size_t>(m.clip_begin[row] + batch.q_len[row] + m.clip_end[row]);
    const auto add = [&](std::int64_t from, Buffer<std::int64_t>& offsets) -> std::uint8_t* {
      offsets.push(from < 0 ? -1 : static_cast<std::int64_t>(out.text.size()));
      return from < 0 ? nullptr : std::copy_n(batch.text + from, length, out.text.extend(length)) - length;
    };
    if (std::uint8_t* read = add(m.read_start[row], out.read_start)) reverse_complement(read, length);
    if (std::uint8_t* quality = add(batch.qual[row], out.qual)) reverse(quality, length);
  }
  return out;
}

}  // namespace wfacli
