// Matches that every cheapest path takes: they divide a long pair into parts that are aligned one by one.
//
// Let C be any path (chain.hpp), and P a cheapest one. Between two diagonal steps that both take, P costs no more than C,
// since C could replace it there. If P takes no step of C from query row y1 to y2, then it matches no seed whose only
// occurrence in the target is where C matches it, nor one that does not occur; so it costs at least what SeedCharge says of
// all these seeds, and of the diagonals between (y1, C) and (y2, C). Rows w1 to w2 (exclusive) for which C costs less than
// that for all y1 <= w1 and y2 >= w2 are therefore rows in which every cheapest path takes a diagonal step of C.
//
// If a run of exact matches of C has two such ranges of rows, one behind the other, then a cheapest path is on the run's
// diagonal in both. Between them the run costs nothing and everything else costs something: each cheapest path takes these
// matches. Parts between them are independent, and so are the choices among equally cheap paths: a traceback that chooses
// by cost at each cell makes the same choices in a part as in the whole.
//
// Beside C, shorter seeds suffice, and more of them fit (find_certain_beside). Let C be nearly a cheapest path, and zones Z1,
// Z2 and so on have more and more diagonals on either side of it, up to all of the target. A path that begins to match seeds
// of zone 1 only inside of it matches none whose only occurrence in the zone is where C matches it; the same proof then holds
// with seeds of five symbols. Any other path goes beyond a zone, and there is a first zone beyond which it does not go. It
// pays the charges of that zone's seeds, and for the diagonals to the border of the zone before it and back. Where C costs
// less than both, whatever rows are left out, no such path avoids C.
#pragma once

#include "kernels/certain/chain.hpp"

namespace wfacli {

// Inclusive range of diagonals (target minus query).
struct Diagonals {
  std::int32_t low, high;
};

// Diagonals of all cheapest paths of a part, by anti-diagonals: kRows of them have the same.
struct Corridor {
  static constexpr std::int32_t kRows = 128;
  const Diagonals* of;
  std::int32_t count;
};

// A part of a pair from cell (i, j) on, and the certain matches that follow it (none after the last part).
struct CertainPart {
  std::int32_t i, j, query_len, target_len;
  std::int64_t max_cost;  // cost of some path of the part
  std::int32_t matches;
  bool close = true;  // whether max_cost is hardly more than the least cost
  std::int32_t corridor = 0, corridor_count = 0;  // its place in CertainMemory::corridors; 0: it is not known
};

// The cost of C up to a row, minus what shifts between diagonals up to there cost at least, as deletions or as insertions.
struct Potential {
  std::int64_t deletion, insertion;
};

// Potentials of which none is at most (or none is at least) another in both parts.
class Front {
 public:
  // Add a potential to the least ones, or to the greatest ones.
  void add_least(Potential x) { add(x, 1); }
  void add_greatest(Potential x) { add(x, -1); }

  // Greatest ones: returns true if one is at least as great as one of the least ones.
  bool reaches(const Front& least) const;
  // Least ones: returns the largest number that, subtracted from x, leaves it at least as great as one of them.
  std::int64_t excess_over(Potential x) const;
  // Greatest ones: returns the smallest number that, subtracted from x, leaves it at most as great as one of them.
  std::int64_t lack_under(Potential x) const;

 private:
  static constexpr int kMost = 4;  // further ones are merged with others, which proves less

  void add(Potential x, int sign);

  Potential at_[kMost];
  int count_ = 0;
};

// The least potentials, less the charges of seeds that began before, of rows up to a run: as deletions and as insertions,
// and with the diagonal of a run between that row and this one.
struct Departure {
  std::int64_t deletion, insertion, above, below;
};

// A way from a step of C to the next one that a cheapest path may take without a step of C in between.
struct Absence {
  std::size_t first;  // run of C before it
  std::int64_t cost;  // of C from there on
};

// What blocks of rows cost away from C: kernels/confined/block_costs.hpp and confinement.hpp.
struct PaidMemory {
  static constexpr int kSlopes = 5;

  Costs costs;  // those of `table`
  Buffer<std::int64_t> table;
  std::int64_t slopes[kSlopes];
  Buffer<std::uint8_t> seeds;  // of each block, those that no path matches without C
  Buffer<std::int64_t> until[kSlopes], least_before[kSlopes];  // by block, and by run
  Buffer<std::int64_t> there;  // by section of rows, and slope
  Buffer<Diagonals> limited;  // by range of anti-diagonals
};

struct CertainMemory {
  Buffer<Seed> seeds;
  Buffer<SeedPlace> places;  // hash table of the k-mers of seeds
  Buffer<std::uint64_t> hashes;
  Buffer<Anchor> anchors;
  Buffer<ExactRun> runs;
  Buffer<Stop> stops;
  std::int32_t k = 0;  // symbols of a seed
  Buffer<std::int32_t> starts;    // of the seeds that no path matches beside C
  Buffer<Front> fronts;           // of each run: least potentials of the rows before it
  Buffer<std::int32_t> from, to;  // certain rows of each run
  Buffer<CertainPart> parts;
  Buffer<std::int32_t> kmers;    // of each column
  Buffer<std::uint16_t> counts;  // of each k-mer
  Buffer<Departure> departures;  // of each run
  Buffer<ExactRun> clipped;      // runs of a part
  PaidMemory paid;
  Buffer<Absence> absences;       // of the runs that end in the rows of each range of diagonals
  Buffer<Diagonals> corridors;    // of all parts
};

// Writes the runs of a path, operation by operation.
class RunBuilder {
 public:
  RunBuilder(const Costs& costs, Buffer<ExactRun>& runs) : costs_(costs), runs_(runs) {
    runs_.clear();
    runs_.push({0, 0, 0, 0});
  }
  void add(Op op, std::int32_t length);

 private:
  const Costs& costs_;
  Buffer<ExactRun>& runs_;
};

// Finds a path C, and divides a pair, from its end as it is stored (KernelTask), at certain matches. Returns false if there
// is no C; memory.parts has a single part if no match is certain. Requires that no end is free, and no wildcards. Takes
// about 2 ns per symbol.
bool find_certain(const KernelTask& task, CertainMemory& memory);

// Divides a part (`task`, which is `whole` of the pair) along memory.runs, a path of it that should be nearly a cheapest
// one, and adds its parts to `parts`. Requires the same. Takes about 20 ns per symbol.
void find_certain_beside(const KernelTask& task, const CertainPart& whole, CertainMemory& memory,
                         Buffer<CertainPart>& parts);

}  // namespace wfacli
