// Growable arrays of trivially copyable values.
//
// Every member is forced inline. This header is also included by translation units that are compiled once per
// instruction set; the linker might keep an out-of-line copy from one of them, which would then run on a machine
// that lacks those instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#define WFACLI_INLINE inline __attribute__((always_inline))

namespace wfacli {

// realloc() and malloc() that throw std::bad_alloc; compiled once, for the baseline instruction set.
void* grow_bytes(void* old, std::size_t bytes);
void* take_bytes(std::size_t bytes);

template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  WFACLI_INLINE Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  WFACLI_INLINE Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  WFACLI_INLINE ~Buffer() { std::free(data_); }

  WFACLI_INLINE T* data() { return data_; }
  WFACLI_INLINE const T* data() const { return data_; }
  WFACLI_INLINE std::size_t size() const { return size_; }
  WFACLI_INLINE std::size_t capacity() const { return capacity_; }
  WFACLI_INLINE bool empty() const { return size_ == 0; }
  WFACLI_INLINE T& operator[](std::size_t i) { return data_[i]; }
  WFACLI_INLINE const T& operator[](std::size_t i) const { return data_[i]; }
  WFACLI_INLINE T& back() { return data_[size_ - 1]; }
  WFACLI_INLINE void clear() { size_ = 0; }

  // Truncates, or adds uninitialised elements.
  WFACLI_INLINE void resize(std::size_t size) {
    reserve(size);
    size_ = size;
  }
  WFACLI_INLINE void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    std::size_t grown = capacity_ + capacity_ / 2 + 16;
    capacity_ = grown < capacity ? capacity : grown;
    data_ = static_cast<T*>(grow_bytes(data_, capacity_ * sizeof(T)));
  }
  WFACLI_INLINE void push(T value) {
    if (size_ == capacity_) reserve(size_ + 1);
    data_[size_++] = value;
  }
  // Adds `count` uninitialised elements and returns a pointer to the first.
  WFACLI_INLINE T* extend(std::size_t count) {
    reserve(size_ + count);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  WFACLI_INLINE void append(const T* values, std::size_t count) {
    if (count) std::memcpy(extend(count), values, count * sizeof(T));
  }
  // Transfers ownership of the memory to the caller, who must call std::free.
  WFACLI_INLINE T* release() {
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace wfacli
