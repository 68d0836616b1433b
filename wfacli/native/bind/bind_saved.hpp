// A solver's state between numpy and native code.
#pragma once

#include <vector>

#include "bind/bind.hpp"
#include "base/saved.hpp"

namespace wfacli {

// {name: i64[]} of the arrays that `save` gives.
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

// The arrays of such names. Throws ValueError where one is missing, or has no integers of 64 bits.
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
