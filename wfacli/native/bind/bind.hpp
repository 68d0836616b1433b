// Shared by the binding units: conversion between numpy arrays and native columns, and no other logic.
#pragma once

#include <optional>

#include "bind/nanobind.hpp"
#include "io/builder.hpp"
#include "engine/engine.hpp"

namespace wfacli {

namespace nb = nanobind;

template <class T>
using InColumn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutColumn = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// Releases the GIL for long work, by the number of values. Short work keeps it: while other threads want the GIL, it takes up
// to a millisecond to get it back.
class Unlocked {
 public:
  explicit Unlocked(std::size_t values) {
    constexpr std::size_t kMany = std::size_t{1} << 18;
    if (values >= kMany) release_.emplace();
  }

 private:
  std::optional<nb::gil_scoped_release> release_;
};

// Move a buffer into a numpy array, which then owns the memory.
template <class T>
OutColumn<T> to_numpy(Buffer<T>& buffer) {
  const std::size_t size = buffer.size();
  T* data = buffer.release();
  if (!data) data = static_cast<T*>(take_bytes(sizeof(T)));
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return OutColumn<T>(data, {size}, owner);
}

// Return an attribute of a batch as a column of `n` values (any number if n < 0). Valid as long as the object keeps
// the attribute. Throws ValueError if the length differs.
template <class T>
const T* column(nb::handle object, const char* name, std::int64_t n) {
  const auto array = nb::cast<InColumn<T>>(object.attr(name), false);
  if (n >= 0 && array.shape(0) != static_cast<std::size_t>(n))
    throw nb::value_error((std::string(name) + " has another length than its batch").c_str());
  return array.data();
}

// Views of a batch's pairs without and with names and qualities, which most calls do not need; and of alignments.
BatchView batch_view(nb::handle batch);
BatchView batch_with_records(nb::handle batch);
AlignmentView alignment_view(nb::handle alignments);

// Throws IndexError unless all rows are in 0 .. pairs - 1.
void check_rows(const InColumn<std::int32_t>& rows, std::int64_t pairs);

// Return a batch as {name: column}.
nb::dict columns_dict(BatchColumns columns);

// Return (status, cut, score, span, cigar, cigar_start) as numpy arrays.
inline nb::tuple columns_of(AlignedRows& rows) {
  return nb::make_tuple(to_numpy(rows.status), to_numpy(rows.cut), to_numpy(rows.score), to_numpy(rows.span),
                        to_numpy(rows.cigar.runs()), to_numpy(rows.cigar_start));
}

void bind_reader(nb::module_& m);
void bind_mapped(nb::module_& m);
void bind_take(nb::module_& m);
void bind_ends(nb::module_& m);
void bind_spans(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_extend(nb::module_& m);
void bind_forecast(nb::module_& m);
void bind_distance(nb::module_& m);
void bind_local(nb::module_& m);
void bind_format(nb::module_& m);
void bind_bam(nb::module_& m);
void bind_dotplot(nb::module_& m);
void bind_exit(nb::module_& m);
void bind_simulate(nb::module_& m);

}  // namespace wfacli
