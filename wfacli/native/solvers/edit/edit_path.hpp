// A best path of one pair of any symbols, in memory linear in the distance.
//
// Divide and conquer (E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1986, section 4b):
// two fronts of furthest-reaching points meet in a cell of a best path, and both sides of that cell are solved
// recursively.
#pragma once

#include "solvers/edit/edit.hpp"
#include "base/types.hpp"

namespace wfacli {

// Append the operations of a best path under edit distance to `cigar`. The time is quadratic in the distance. Return
// false if `stop` was set.
bool edit_path(const EditPair& pair, const CancelFlag& stop, Cigar& cigar);

}  // namespace wfacli
