// A best path of one pair of any symbols, in memory that grows with the distance.
//
// E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1986, section 4b: two fronts of
// furthest-reaching points meet in a cell of a best path, on either side of which the rest is found likewise.
#pragma once

#include "solvers/edit/edit.hpp"
#include "base/types.hpp"

namespace wfacli {

// Appends the path's operations (a mismatch, an inserted, a deleted symbol cost 1 each) to `cigar`. Its time goes with
// the square of the distance. Returns false where it was stopped.
bool edit_path(const EditPair& pair, const CancelFlag& stop, Cigar& cigar);

}  // namespace wfacli
