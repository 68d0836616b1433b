// Kernels of the edit distance, compiled once per instruction set, which WFACLI_ISA names.
#include "kernels/bits/bits_codes.hpp"
#include "solvers/edit/edit_front.hpp"
#include "solvers/edit/edit_slab.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Offset, class Use>
static auto with_front(const FrontTask<Offset>& task, const Use& use) {
  if (task.pair.symbol_bytes == 1)
    return task.from_end ? use(EditFront<Offset, std::uint8_t, true>(task))
                         : use(EditFront<Offset, std::uint8_t, false>(task));
  return task.from_end ? use(EditFront<Offset, std::uint32_t, true>(task))
                       : use(EditFront<Offset, std::uint32_t, false>(task));
}

template <class Offset>
static FrontKernel<Offset> front_kernel() {
  return {[](const FrontTask<Offset>& task) { with_front(task, [](auto front) { front.begin(); }); },
          [](const FrontTask<Offset>& task, std::int64_t score, std::int64_t count) {
            return with_front(task, [=](auto front) { return front.advance(score, count); });
          },
          fronts_meet<Offset>};
}

constexpr int kHighVectors = 2, kLowLanes = 8;

template <int Vectors, class Use>
static void with_slab(const SlabTask& task, const Use& use) {
  const auto by_planes = [&]<bool Within>(std::bool_constant<Within>) {
    switch (task.planes) {
      case 2: return use(Slab<2, Vectors, Within>(task));
      case 3: return use(Slab<3, Vectors, Within>(task));
      case 5: return use(Slab<5, Vectors, Within>(task));
      default: return use(Slab<8, Vectors, Within>(task));
    }
  };
  if constexpr (Vectors * kLanes == kLowLanes) {
    if (task.last && task.last < 64 * kLowLanes) return by_planes(std::true_type());
  }
  by_planes(std::false_type());
}

static void pack(const EditPair& pair, EditPlanes& to, bool padded) {
  const auto* query = static_cast<const std::uint8_t*>(pair.query);
  const auto* target = static_cast<const std::uint8_t*>(pair.target);
  const DenseCodes codes(query, pair.query_len, target, pair.target_len);
  const int planes = to.planes = codes.planes == 4 ? 5 : codes.planes > 5 ? 8 : codes.planes;
  const std::int64_t slabs = (pair.query_len + kSlabRows - 1) / kSlabRows;
  const std::int64_t padding = padded ? slabs * kSlabRows - pair.query_len : 0, skip = padding & 63;
  const std::int64_t words = (pair.target_len + 63) / 64;
  to.rows.resize(static_cast<std::size_t>(slabs * kSlabRows / 64 * planes));
  to.columns.resize(static_cast<std::size_t>((words + 2) * planes));
  std::memset(to.rows.data(), 0, to.rows.size() * sizeof(Word));
  std::memset(to.columns.data(), 0, to.columns.size() * sizeof(Word));
  Word* rows = to.rows.data() + padding / 64 * planes;
  const std::int64_t few = pair.query_len < 64 - skip ? pair.query_len : 64 - skip;
  write_planes<false>(query, few, codes.query, planes, rows);
  for (int p = 0; p < planes; ++p) rows[p] <<= skip;
  write_planes<false>(query + few, pair.query_len - few, codes.query, planes, rows + planes);
  write_planes<true>(target, pair.target_len, codes.target, planes, to.columns.data() + planes);
}

template <int Vectors>
static SlabKernel slab_kernel() {
  return {64 * Vectors * kLanes, pack,
          [](const SlabTask& task, SlabState& state) {
            with_slab<Vectors>(task, [&](const auto& slab) { slab.begin(state); });
          },
          [](const SlabTask& task, SlabState& state, std::int64_t from, std::int64_t to, bool finish) {
            with_slab<Vectors>(task, [&](const auto& slab) { slab.advance(state, from, to, finish); });
          }};
}

EditKernels edit_kernels() {
  return {front_kernel<std::int32_t>(), front_kernel<std::int64_t>(), slab_kernel<kHighVectors>(),
          slab_kernel<kLowLanes / kLanes>()};
}

}  // namespace WFACLI_ISA
}  // namespace wfacli
