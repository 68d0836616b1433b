// Saved state of a solver, from which another instance resumes (checkpoints).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.hpp"

namespace wfacli {

// Named array of a saved state, owned (SavedArray) or borrowed (SavedView).
struct SavedArray {
  const char* name;
  Buffer<std::int64_t> values;
};
struct SavedView {
  const std::int64_t* values;
  std::size_t size;
};

}  // namespace wfacli
