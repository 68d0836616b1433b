// Distance where the two matrices of long_bits.cu meet: the least sum of the costs from both ends to a cell after the
// last row of the last stripe. One block.
//
// WFACLI_BLOCK: threads.
#include "long/long_bits.cuh"

namespace wfacli {

// The last row of a matrix. A sum for each word gives the cost after each column.
struct LastRow {
  StripeColumns columns;
  const unsigned long long* edge;
  std::int64_t* sums;   // cost before each word, and after the last
  std::int64_t begins;  // cost at the start of the row

  WFACLI_DEVICE static LastRow of(const LongBitsTask& task, int matrix) {
    const BitsMatrix& own = task.matrix[matrix];
    const std::int64_t last = own.stripes - 1;
    const unsigned long long* corner = own.corner + 2 * (own.stripes % task.slots);
    return {StripeColumns::of(task, matrix, last), own.edges + 2 * (last % task.slots) * task.edge_words,
            task.sums + matrix * (task.edge_words + 1),
            static_cast<std::int64_t>(corner[1] << 32 | (corner[0] & 0xffffffffu))};
  }
  WFACLI_DEVICE std::int64_t words() const { return columns.end - columns.first; }
  // Return the rise of the cost in the first `count` columns of a word.
  WFACLI_DEVICE std::int32_t rise(std::int64_t word, std::int32_t count) const {
    if (count == 0) return 0;
    const std::uint32_t inside = ~0u << (32 - count);
    return __popc(static_cast<std::uint32_t>(edge[2 * word]) & inside) -
           __popc(static_cast<std::uint32_t>(edge[2 * word + 1]) & inside);
  }
  // Return the cost after `column` columns of the matrix, or more than any cost where it is unknown.
  WFACLI_DEVICE std::int64_t behind(std::int64_t column) const {
    const std::int64_t word = column / 32 - columns.first;
    const auto rest = static_cast<std::int32_t>(column % 32);
    if (word < 0 || word > words() || (word == words() && rest > 0)) return std::int64_t{1} << 60;
    return sums[word] + rise(word, rest);
  }
};

// Compute the sums. Each thread adds up some words, then adds what precedes them.
WFACLI_DEVICE void sum_up(const LastRow& row, std::int64_t (&shared)[WFACLI_BLOCK]) {
  const std::int64_t each = (row.words() + WFACLI_BLOCK - 1) / WFACLI_BLOCK;
  const std::int64_t first = min(threadIdx.x * each, row.words()), end = min(first + each, row.words());
  std::int64_t sum = 0;
  for (std::int64_t w = first; w < end; ++w) sum += row.rise(w, 32);
  shared[threadIdx.x] = sum;
  __syncthreads();
  std::int64_t before = row.begins;
  for (unsigned t = 0; t < threadIdx.x; ++t) before += shared[t];
  for (std::int64_t w = first; w < end; ++w) {
    row.sums[w] = before;
    before += row.rise(w, 32);
  }
  if (end == row.words()) row.sums[end] = before;
  __syncthreads();
}

}  // namespace wfacli

WFACLI_KERNEL(long_bits_meet, wfacli::LongBitsTask) {
  __shared__ std::int64_t shared[WFACLI_BLOCK];
  const wfacli::LastRow one = wfacli::LastRow::of(task, 0), other = wfacli::LastRow::of(task, 1);
  wfacli::sum_up(one, shared);
  wfacli::sum_up(other, shared);
  const std::int64_t from = 32 * one.columns.first, to = min(32 * one.columns.end, task.target_len);
  std::int64_t minimum = std::int64_t{1} << 60;
  for (std::int64_t j = from + threadIdx.x; j <= to; j += WFACLI_BLOCK)
    minimum = min(minimum, one.behind(j) + other.behind(task.target_len - j));
  shared[threadIdx.x] = minimum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < WFACLI_BLOCK; ++t) minimum = min(minimum, shared[t]);
  *task.distance = minimum;
}
