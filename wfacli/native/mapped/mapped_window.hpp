// Which parts of a read and of its target a mapping asks for.
#pragma once

#include <vector>

#include "mapped/mappings.hpp"
#include "base/types.hpp"

namespace wfacli {

// What of a read and of its target is aligned.
enum class Span {
  Extended,  // the mapped parts of both, and what an extension may reach beside them
  Mapped,  // the mapped parts of both
  Padded,  // the mapped part of the read; of the target, padding beside it too
  Read,    // the whole read; of the target, as much beside the mapped part as the read has, an eighth of it, and padding
};

// How far an extension may reach: scores of matches and gaps, and bounds.
struct Reach {
  std::int64_t match = 0, bonus = 0;  // what a match earns, and the end of the read
  GapPiece gap[2];                    // one of one piece has it twice
  std::int64_t letters = 0;           // of the read, at most
  std::int64_t band = 0;              // by which the target's part may be longer than the read's

  // Letters of the target for so many of the read: as many, and the longest gap that all of them could pay for.
  std::int64_t target(std::int64_t query) const;
};

struct WindowOptions {
  Span span = Span::Mapped;
  std::int64_t pad = 0;  // letters on either side, of Padded and Read
  Reach reach;           // of Extended
};

// Half open, on the read's strand that is aligned and on the target's forward one.
struct Window {
  std::int64_t q_beg, q_end, t_beg, t_end;
};

// What of a read a part may extend into, on its strand as it was sequenced.
struct Room {
  std::int64_t beg, end;
};

// The mapped parts.
Window inner_of(const Mapping& mapping);
// What is aligned, of a target of so many letters.
Window window_of(const Mapping& mapping, const Room& room, std::int64_t target, const WindowOptions& options);
// Rooms of a read's mappings. With Extended, parts of a split read extend a little into the next one, and not beyond its
// middle; secondary mappings, and those inside another, as far as the read goes.
std::vector<Room> rooms_of(const Mapping* mappings, std::size_t count, Span span);

}  // namespace wfacli
