// The difference kernel for one pair under gap-affine costs of two pieces; compiled once per instruction set, which
// WFACLI_ISA names.
#include "kernels/difference/difference_pair.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template KernelAnswer difference_pair<2>(const KernelTask&, DifferenceMemory&, Cigar&);

}  // namespace WFACLI_ISA
}  // namespace wfacli
