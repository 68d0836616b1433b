// Pieces of a local alignment's way back, each between two rows that were kept, by several threads.
//
// Where a path goes from a cell depends on nothing but the cell, so a piece can be walked before those that lead to it,
// from where the path is believed to come; who asked says which of them were right. A belief may be wrong in any way:
// such a walk may find no way, and then has failed.
#pragma once

#include <memory>
#include <vector>

#include "solvers/edit/edit_helper.hpp"
#include "solvers/local/local_path.hpp"

namespace wfacli {

struct LocalPiece {
  std::int64_t row;           // rows from here on, to the entry's
  std::int64_t first, count;  // cells of the row above that are given, up to the entry's column; none: they are 0
  const std::int32_t *h, *f;
  LocalEntry entry;
  // Where it is left, ...
  LocalEntry exit;
  enum How : std::uint8_t { kLeft, kEnded, kFailed } how;
  std::int64_t cells;  // computed
  Buffer<std::uint32_t> cigar;
};

// Threads, and room for directions, that stay for the next pieces: there may be few, many times.
class LocalCrew {
 public:
  void walk(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options, int threads,
            std::vector<LocalPiece>& pieces);

 private:
  struct Member {
    EditHelper helper;
    Buffer<std::uint8_t> room;
  };
  std::vector<std::unique_ptr<Member>> members_;  // the caller's thread is the first one
};

}  // namespace wfacli
