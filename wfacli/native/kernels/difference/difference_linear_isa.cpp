// The difference kernel for one pair under linear gap costs; compiled once per instruction set, which WFACLI_ISA names.
#include "kernels/difference/difference_pair.hpp"

namespace wfacli {
namespace WFACLI_ISA {

template KernelAnswer difference_pair<0>(const KernelTask&, DifferenceMemory&, Cigar&);

}  // namespace WFACLI_ISA
}  // namespace wfacli
