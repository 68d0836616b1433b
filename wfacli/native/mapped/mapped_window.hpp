// Parts of a read and of its target that are aligned for a mapping.
#pragma once

#include <vector>

#include "mapped/mappings.hpp"
#include "base/types.hpp"

namespace wfacli {

// Extent of the read and the target that is aligned.
enum class Span {
  Extended,  // the mapped parts of both, and flanks as far as an extension may reach
  Mapped,  // the mapped parts of both
  Padded,  // the mapped part of the read; the mapped part of the target with padding
  Read,    // the whole read; the target flanks are 9/8 as long as the read's, plus padding
};

// Limits of an extension: scores that bound its gaps, and maximum lengths.
struct Reach {
  std::int64_t match = 0, bonus = 0;  // match score, and bonus for reaching the end of the read
  GapPiece gap[2];                    // with one-piece costs, both are the same
  std::int64_t max_query = 0;         // maximum bases of the read
  std::int64_t max_excess = 0;        // maximum bases by which the target's flank exceeds the read's

  // Returns the length of the target flank for `query` bases of the read: `query` plus the longest gap that the score
  // of `query` matches and the end bonus can pay for, but at most
  // `max_excess`, and 128 more without an end bonus.
  std::int64_t target(std::int64_t query) const;
};

struct WindowOptions {
  Span span = Span::Mapped;
  std::int64_t pad = 0;  // bases on either side, for Padded and Read
  Reach reach;           // for Extended
};

// Half-open intervals: of the read, on the strand that is aligned; of the target, on its forward strand.
struct Window {
  std::int64_t q_beg, q_end, t_beg, t_end;
};

// Interval of the read, as sequenced, that a mapping may extend into.
struct Room {
  std::int64_t beg, end;
  friend bool operator==(const Room&, const Room&) = default;
};

// Returns how many bases of a part of a read, which has `bases` bases, another part may extend into: up to its middle, or
// through a short one, which the mapper may have found by chance. `shared` of these are in the other part as well.
std::int64_t bases_into(std::int64_t bases, std::int64_t shared);

// Returns the mapped parts of read and target.
Window inner_of(const Mapping& mapping);
// Returns the parts to align; `target` is the length of the target.
Window window_of(const Mapping& mapping, const Room& room, std::int64_t target, const WindowOptions& options);
// Sets the room of each mapping of a read. With Extended, a part of a split read may extend up to 500 bases into
// the next part, but not beyond its middle, as long as that part has its mapped bases; secondary mappings, and mappings
// inside another one, may extend to the ends of the read.
void set_rooms(const Mapping* mappings, std::size_t count, Span span, std::vector<Room>& rooms);

}  // namespace wfacli
