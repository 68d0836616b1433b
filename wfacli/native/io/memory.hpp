// Builds a batch from sequences in memory.
#pragma once

#include "io/records.hpp"

namespace wfacli {

// Builder of a batch from sequences; pairs are named pair1, pair2 and so on, in order.
class MemoryPairs {
 public:
  MemoryPairs() : out_(true) {}

  // Reserves space for `pairs` pairs with `letters` bases in total, to avoid reallocation.
  void reserve(std::int64_t pairs, std::int64_t letters) { out_.reserve(pairs, letters); }
  // Add a query, then its target. Both throw InputFault.
  void query(std::string_view letters);
  void target(std::string_view letters);
  BatchColumns take() { return out_.take(); }

 private:
  void add(std::string_view letters);

  BatchBuilder out_;
};

}  // namespace wfacli
