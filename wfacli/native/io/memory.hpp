// Pairs that are in memory already, as a batch.
#pragma once

#include "io/records.hpp"

namespace wfacli {

// Names pairs pair1, pair2, … as they come.
class MemoryPairs {
 public:
  MemoryPairs() : out_(true) {}

  // Makes room, so that what is added need not be moved.
  void reserve(std::int64_t pairs, std::int64_t letters) { out_.reserve(pairs, letters); }
  // Both throw InputFault.
  void query(std::string_view letters);
  void target(std::string_view letters);
  BatchColumns take() { return out_.take(); }

 private:
  void add(std::string_view letters);

  BatchBuilder out_;
};

}  // namespace wfacli
