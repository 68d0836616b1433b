// Hash functions, and a set of record names.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Finalizer of splitmix64. Different seeds give independent hashes.
inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

inline std::uint64_t hash_bytes(const std::uint8_t* name, std::int64_t len, std::uint64_t seed) {
  std::uint64_t h = mix64(seed + static_cast<std::uint64_t>(len));
  for (std::int64_t i = 0; i < len; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, name + i, static_cast<std::size_t>(len - i < 8 ? len - i : 8));
    h = mix64((h ^ word) + 0x9e3779b97f4a7c15ull);
  }
  return h;
}

// Hash set of names that stores only a 64-bit hash of each, in an open-addressing table.
class NameSet {
 public:
  // Returns false if the name is already present.
  bool add(std::string_view name) { return add_key(key(name)); }
  // Same, by the key of a name.
  bool add_key(std::uint64_t k) {
    if (count_ * 4 >= slots_.size() * 3) grow();
    std::uint64_t& slot = find(k);
    if (slot) return false;
    slot = k;
    ++count_;
    return true;
  }
  // Prefetches the slot that add_key() or has() will probe first.
  void prefetch(std::uint64_t k) const {
    if (count_) __builtin_prefetch(slots_.data() + (k & (slots_.size() - 1)));
  }
  bool has(std::string_view name) { return count_ && find(key(name)); }

  static std::uint64_t key(std::string_view name) {
    const std::uint64_t h =
        hash_bytes(reinterpret_cast<const std::uint8_t*>(name.data()), static_cast<std::int64_t>(name.size()), 1);
    return h ? h : 1;  // 0 marks an empty slot
  }

 private:
  std::uint64_t& find(std::uint64_t k) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = k & mask;
    while (slots_[i] && slots_[i] != k) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    Buffer<std::uint64_t> old = std::move(slots_);
    slots_ = Buffer<std::uint64_t>();
    slots_.resize(old.empty() ? 1024 : old.size() * 2);
    std::memset(slots_.data(), 0, slots_.size() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < old.size(); ++i)
      if (old[i]) find(old[i]) = old[i];
  }

  Buffer<std::uint64_t> slots_;
  std::size_t count_ = 0;
};

}  // namespace wfacli
