// Builds a batch from sequences in memory.
#pragma once

#include "io/records.hpp"

namespace wfacli {

// Builder of a batch from sequences; pairs are named pair1, pair2 and so on, in order.
class MemoryPairs {
 public:
  MemoryPairs() : out_(true) {}

  // Reserves space for `pairs` pairs with `bases` bases in total, to avoid reallocation.
  void reserve(std::int64_t pairs, std::int64_t bases) { out_.reserve(pairs, bases); }
  // Add a query, then its target. Both throw InputFault.
  void query(std::string_view sequence);
  void target(std::string_view sequence);
  BatchColumns take() { return out_.take().complete(); }

 private:
  void add(std::string_view sequence);

  BatchBuilder out_;
};

}  // namespace wfacli
