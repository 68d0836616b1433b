// The state of a solver, from which another one goes on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// One array of a saved state.
struct SavedArray {
  const char* name;
  Buffer<std::int64_t> values;
};
struct SavedView {
  const std::int64_t* values;
  std::size_t size;
};

}  // namespace wfacli
