// Shuffles of vectors whose order is known when they are compiled, for GCC and Clang, which have different builtins.
#pragma once

#include <type_traits>
#include <utility>

#include "base/buffer.hpp"

namespace wfacli {

template <class Order, class Vector, int... Lane>
WFACLI_INLINE Vector reordered_lanes(Vector a, Vector b, std::integer_sequence<int, Lane...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, Order{}(Lane)...);
#else  // GCC 11 has no other
  using Element = std::remove_cvref_t<decltype(a[0])>;
  return __builtin_shuffle(a, b, Vector{static_cast<Element>(Order{}(Lane))...});
#endif
}

// Returns the lanes of a and b in another order: lane l of the result is lane order(l) of a followed by b. Order is a
// lambda without captures, int to int.
template <class Vector, class Order>
WFACLI_INLINE Vector reordered(Vector a, Vector b, Order) {
  constexpr int kLanes = sizeof(Vector) / sizeof(a[0]);
  return reordered_lanes<Order>(a, b, std::make_integer_sequence<int, kLanes>{});
}

}  // namespace wfacli
