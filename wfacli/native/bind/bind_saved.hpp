// Conversion of a solver's saved state to and from numpy arrays.
#pragma once

#include <vector>

#include "bind/bind.hpp"
#include "base/saved_state.hpp"

namespace wfacli {

// Return the arrays of `save` as {name: i64[]}.
template <class Save>
nb::dict saved_dict(const Save& save) {
  std::vector<SavedArray> arrays;
  {
    nb::gil_scoped_release release;
    arrays = save();
  }
  nb::dict state;
  for (SavedArray& array : arrays) state[array.name] = to_numpy(array.values);
  return state;
}

// The named arrays of a state. Throws ValueError if one is missing, or is not a column of 64-bit integers.
struct SavedColumns {
  SavedColumns(const nb::dict& state, const std::vector<const char*>& names) {
    for (const char* name : names) {
      InColumn<std::int64_t> values;
      if (!state.contains(name) || !nb::try_cast(state[name], values, false))
        throw nb::value_error((std::string("the state has no array of integers named ") + name).c_str());
      columns.push_back(values);
      views.push_back({values.data(), values.shape(0)});
    }
  }

  std::vector<InColumn<std::int64_t>> columns;
  std::vector<SavedView> views;
};

}  // namespace wfacli
