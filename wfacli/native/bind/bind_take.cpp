// Rows of columns; of many, taken without the interpreter's lock, for which other threads would wait.
#include <algorithm>
#include <cstring>
#include <vector>

#include "bind/bind.hpp"
#include "engine/staging.hpp"

namespace wfacli {
namespace {

using Source = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<nb::c_contig, nb::device::cpu>;

struct TakenColumn {
  const std::uint8_t* from;
  std::uint8_t* to;
  std::size_t bytes;  // of a row
};

template <class T>
void take(const TakenColumn& column, const std::int32_t* rows, std::size_t count) {
  const T* from = reinterpret_cast<const T*>(column.from);
  T* to = reinterpret_cast<T*>(column.to);
  for (std::size_t i = 0; i < count; ++i) to[i] = from[rows[i]];
}

void take_any(const TakenColumn& column, const std::int32_t* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(column.to + i * column.bytes, column.from + static_cast<std::size_t>(rows[i]) * column.bytes, column.bytes);
}

template <class Array>
std::size_t row_bytes(const Array& array) {
  std::size_t bytes = static_cast<std::size_t>(array.itemsize());
  for (std::size_t axis = 1; axis < array.ndim(); ++axis) bytes *= array.shape(axis);
  return bytes;
}

void take_rows(nb::sequence columns, InColumn<std::int32_t> rows, nb::sequence taken) {
  const std::size_t count = rows.shape(0);
  std::vector<TakenColumn> all;
  std::int64_t least = INT64_MAX;
  for (std::size_t k = 0, n = nb::len(columns); k < n; ++k) {
    const auto from = nb::cast<Source>(columns[k], false);
    const auto to = nb::cast<Target>(taken[k], false);
    if (from.ndim() == 0 || to.ndim() == 0 || to.shape(0) != count || row_bytes(from) != row_bytes(to))
      throw nb::value_error("a column does not fit");
    least = std::min(least, static_cast<std::int64_t>(from.shape(0)));
    all.push_back({static_cast<const std::uint8_t*>(from.data()), static_cast<std::uint8_t*>(to.data()), row_bytes(from)});
  }
  bool inside = false;
  {
    Unlocked unlocked(count * all.size());
    inside = rows_inside(rows.data(), static_cast<std::int64_t>(count), least);
    for (const TakenColumn& column : all) {
      if (!inside) break;
      if (column.bytes == 8)
        take<std::uint64_t>(column, rows.data(), count);
      else if (column.bytes == 4)
        take<std::uint32_t>(column, rows.data(), count);
      else if (column.bytes == 1)
        take<std::uint8_t>(column, rows.data(), count);
      else
        take_any(column, rows.data(), count);
    }
  }
  if (!inside) throw nb::index_error("a row lies outside the columns");
}

nb::tuple take_cigars(InColumn<std::uint32_t> cigar, InColumn<std::int64_t> start, InColumn<std::int32_t> rows) {
  const auto n = static_cast<std::int64_t>(start.shape(0)) - 1;
  if (n < 0 || start.data()[n] > static_cast<std::int64_t>(cigar.shape(0))) throw nb::value_error("cigar_start is of other CIGARs");
  Buffer<std::uint32_t> taken;
  Buffer<std::int64_t> taken_start;
  bool inside = false;
  {
    const std::size_t count = rows.shape(0);
    Unlocked unlocked(2 * count + static_cast<std::size_t>(n > 0 ? start.data()[n] / n : 0) * count);
    inside = rows_inside(rows.data(), static_cast<std::int64_t>(count), n);
    for (std::size_t i = 0; inside && i <= count; ++i) {
      taken_start.push(static_cast<std::int64_t>(taken.size()));
      if (i == count) break;
      const std::int64_t first = start.data()[rows.data()[i]], end = start.data()[rows.data()[i] + 1];
      taken.append(cigar.data() + first, static_cast<std::size_t>(end - first));
    }
  }
  if (!inside) throw nb::index_error("a row lies outside the alignments");
  return nb::make_tuple(to_numpy(taken), to_numpy(taken_start));
}

std::int64_t count_nonzero(InColumn<std::uint8_t> column) {
  return static_cast<std::int64_t>(column.shape(0)) -
         std::count(column.data(), column.data() + column.shape(0), std::uint8_t{0});
}

// Returns the total of two columns of lengths, and the greatest of each.
nb::tuple total_and_longest(InColumn<std::int32_t> q_len, InColumn<std::int32_t> t_len) {
  std::int64_t total = 0;
  std::int32_t longest[2] = {0, 0};
  const InColumn<std::int32_t>* const columns[] = {&q_len, &t_len};
  for (int side = 0; side < 2; ++side)
    for (const std::int32_t *length = columns[side]->data(), *end = length + columns[side]->shape(0); length < end; ++length)
      total += *length, longest[side] = std::max(longest[side], *length);
  return nb::make_tuple(total, longest[0], longest[1]);
}

// Divides rows into those whose sequences have at most `longest` bases and none of the flags, and the others.
nb::tuple rows_up_to(InColumn<std::int32_t> q_len, InColumn<std::int32_t> t_len, InColumn<std::uint8_t> flags,
                     std::int32_t longest, std::uint8_t without) {
  const std::size_t n = q_len.shape(0);
  if (t_len.shape(0) != n || flags.shape(0) != n) throw nb::value_error("columns have different lengths");
  Buffer<std::int32_t> rows, others;
  for (std::size_t row = 0; row < n; ++row) {
    const bool fits = std::max(q_len.data()[row], t_len.data()[row]) <= longest && !(flags.data()[row] & without);
    (fits ? rows : others).push(static_cast<std::int32_t>(row));
  }
  return nb::make_tuple(to_numpy(rows), to_numpy(others));
}

}  // namespace

void bind_take(nb::module_& m) {
  m.def("take_rows", &take_rows, nb::arg("columns"), nb::arg("rows"), nb::arg("taken"),
        "Copies rows (i32[m]) of contiguous columns ([n, ...] each) to others ([m, ...] each, of the same item sizes)");
  m.def("take_cigars", &take_cigars, nb::arg("cigar"), nb::arg("cigar_start"), nb::arg("rows"),
        "(cigar, cigar_start i64[m + 1]) of rows (i32[m])");
  m.def("count_nonzero", &count_nonzero, nb::arg("column"), "Number of values other than 0 in a column, u8[n]");
  m.def("total_and_longest", &total_and_longest, nb::arg("q_len"), nb::arg("t_len"),
        "(total, greatest of q_len, greatest of t_len): of lengths, i32[n] each; 0 if there is none");
  m.def("rows_up_to", &rows_up_to, nb::arg("q_len"), nb::arg("t_len"), nb::arg("flags"), nb::arg("longest"),
        nb::arg("without"),
        "(rows i32[m], others i32[n - m]): pairs whose sequences have at most `longest` bases and none of the flags, and "
        "the others");
}

}  // namespace wfacli
