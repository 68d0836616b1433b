// The kernels of the edit distance for one instruction set: compiled once for each, with WFACLI_ISA naming it.
#include "edit_front.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template <class Offset, class Use>
static auto with_front(const FrontTask<Offset>& task, const Use& use) {
  if (task.pair.letter_bytes == 1)
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

EditKernels edit_kernels() { return {front_kernel<std::int32_t>(), front_kernel<std::int64_t>()}; }

}  // namespace WFACLI_ISA
}  // namespace wfacli
