// Walks along the path of an alignment from one of its ends.
#pragma once

#include <cstdint>

#include "refine/ends.hpp"

namespace wfacli {

inline constexpr std::int64_t kSeed = 16;   // bases of a match that a mapper's seeds do not reach

// Position on a path, counted from the end at which the walk begins: bases of query and target, and aligned columns.
struct Place {
  std::int64_t query = 0, target = 0, columns = 0;
};

// Walks along a path from one of its ends.
class InwardWalk {
 public:
  // `count` CIGAR elements from `run` on in steps of `step` (1 or -1).
  InwardWalk(const std::uint32_t* run, std::int64_t count, std::int64_t step) : run_(run), left_(count), step_(step) {}
  bool next() {
    if (left_-- == 0) return false;
    op = *run_ & 15, length = *run_ >> 4;
    run_ += step_;
    before = at;
    at.query += in_query(op) ? length : 0;
    at.target += in_target(op) ? length : 0;
    at.columns += is_gap(op) ? 0 : length;
    return true;
  }
  // Returns the place behind `bases` of the last element, which aligns bases.
  Place into(std::int64_t bases) const { return {before.query + bases, before.target + bases, before.columns + bases}; }

  Place before, at;  // the last element is between both
  std::uint32_t op = 0;
  std::int64_t length = 0;

 private:
  const std::uint32_t* run_;
  std::int64_t left_, step_;
};

}  // namespace wfacli
