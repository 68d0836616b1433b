// A cheap path through unique seeds, in linear time.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/seed_charge.hpp"

namespace wfacli {

constexpr std::int32_t kAbsent = -1, kRepeated = -2;

// Seeds of the query are numbered; seed s begins at query row s * period.
struct Seed {
  std::int32_t place;  // index in the hash table, or -1 if it has other symbols than A, C, G and T
};

// A k-mer of the query's seeds.
struct SeedPlace {
  std::uint32_t kmer;
  std::int32_t target;  // where it begins in the target: kAbsent, kRepeated, or the only place
  bool used;
};

// A seed that begins at query row i and occurs only at column j of the target.
struct Anchor {
  std::int32_t i, j, from;  // from: the anchor before it on the best chain, or -1
  std::int64_t score;       // of the best chain that ends here: about what other symbols would cost, minus its gaps
};

// A run of matches of a path, which may be empty: rows [i, i + length) on diagonal j - i. Runs end where the path has a
// mismatch or a gap.
struct ExactRun {
  std::int32_t i, j, length;
  std::int64_t cost;  // of the path before the run
};

// A seed that a path matches: its first row and column.
struct Stop {
  std::int32_t i, j;
};

// Finds the seeds of the query and their places in the target. `hashes`: scratch memory.
void find_seeds(const KernelTask& task, const SeedCharge& charge, Buffer<Seed>& seeds, Buffer<SeedPlace>& places,
                Buffer<std::uint64_t>& hashes);

// Sets `runs` to those of a path through the best chain of unique seeds (`stops`), from an empty or longer run at (0, 0) to
// one that ends at (query_len, target_len). Between seeds the path has one gap at the best place, or an insertion and a
// deletion. Returns false if there might be more than max_runs.
bool chain_path(const KernelTask& task, const SeedCharge& charge, const Buffer<Seed>& seeds,
                const Buffer<SeedPlace>& places, Buffer<Anchor>& anchors, Buffer<Stop>& stops, Buffer<ExactRun>& runs,
                std::size_t max_runs);

}  // namespace wfacli
