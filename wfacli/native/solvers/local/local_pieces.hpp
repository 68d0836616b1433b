// Speculative traceback of a local alignment by several threads, in pieces between two kept rows.
//
// The path from a cell depends on that cell alone, so a piece can be traced back from a predicted entry before the
// pieces that lead to it. The caller checks which predictions were right. A prediction may be wrong in any way: its
// traceback may find no path, and then fails.
#pragma once

#include <memory>
#include <vector>

#include "solvers/edit/edit_helper.hpp"
#include "solvers/local/local_path.hpp"

namespace wfacli {

struct LocalPiece {
  std::int64_t row;           // first row; the last row is the entry's
  std::int64_t first, count;  // first column and number of given cells of the row above; count 0: all are 0
  const std::int32_t *h, *f;  // H of those cells, and F of the row below them
  LocalEntry entry;           // in: where the path enters the piece
  LocalEntry exit;            // out: where it leaves the piece, or ends
  enum How : std::uint8_t { kLeft, kEnded, kFailed } how;
  std::int64_t cells;  // number of computed cells
  Buffer<std::uint32_t> cigar;
};

// Threads and traceback buffers, kept for later calls: trace() may be called many times with few pieces.
class LocalCrew {
 public:
  void trace(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options, int threads,
             std::vector<LocalPiece>& pieces);

 private:
  struct Member {
    EditHelper helper;
    Buffer<std::uint8_t> room;
  };
  std::vector<std::unique_ptr<Member>> members_;  // the first one is for the caller's thread
};

}  // namespace wfacli
