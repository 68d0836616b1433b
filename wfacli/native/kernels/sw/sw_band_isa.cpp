// The kernels of banded and X-drop or Z-drop alignment of one instruction set; compiled once per set, which WFACLI_ISA
// names.
#include "kernels/sw/sw_band_solve.hpp"

namespace wfacli {
namespace WFACLI_ISA {

SwExtent sw_extent(const SwTask& task, int bits, const SwPair& pair, const SwHeuristics& heuristics,
                   SwMemory& memory) {
  const auto solve = [&]<class Lane, bool kPlain>() -> SwExtent {
    if (heuristics.xdrop) return SwExtension<Lane, SwCells::Live, kPlain>(task, pair, heuristics, memory).run();
    return SwExtension<Lane, SwCells::All, kPlain>(task, pair, heuristics, memory).run();
  };
  if (bits == 16)
    return task.plain ? solve.template operator()<std::int16_t, true>()
                      : solve.template operator()<std::int16_t, false>();
  return task.plain ? solve.template operator()<std::int32_t, true>()
                    : solve.template operator()<std::int32_t, false>();
}

SwAnswer sw_banded(const SwTask& task, int bits, const SwPair& pair, const SwBand& band, SwMemory& memory) {
  if (bits == 16)
    return task.plain ? SwBanded<std::int16_t, true>(task, pair, band, memory).run()
                      : SwBanded<std::int16_t, false>(task, pair, band, memory).run();
  return task.plain ? SwBanded<std::int32_t, true>(task, pair, band, memory).run()
                    : SwBanded<std::int32_t, false>(task, pair, band, memory).run();
}

}  // namespace WFACLI_ISA
}  // namespace wfacli
