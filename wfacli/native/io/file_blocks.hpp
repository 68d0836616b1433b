// A file whose blocks stay in memory once they are read often.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

namespace wfacli {

// Short reads of a small genome take each block of its file many times, and a system call takes longer than the copy. Of
// a large genome with few reads, no block is worth its memory and its reading: blocks are kept from the 16th read of them
// on, while they are at most 512 MiB.
class FileBlocks {
 public:
  // Duplicates the descriptor, and throws std::runtime_error if that fails.
  explicit FileBlocks(int descriptor);
  ~FileBlocks();
  FileBlocks(const FileBlocks&) = delete;
  FileBlocks& operator=(const FileBlocks&) = delete;

  // Reads up to `size` bytes from an offset of the file; returns how many there are. Thread-safe. Throws InputFault.
  std::size_t read(std::int64_t offset, std::uint8_t* to, std::size_t size) const;
  // Keeps no blocks, since the file will change.
  void keep_none() { blocks_.clear(); }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 16;  // of a block
  static constexpr int kOften = 16;
  static constexpr std::int64_t kMost = (std::int64_t{512} << 20) / kBytes;  // blocks in memory
  using Bytes = std::array<std::uint8_t, kBytes>;
  struct Block {
    std::atomic<const Bytes*> bytes{nullptr};
    std::atomic<int> reads{0};
    ~Block() { delete bytes.load(std::memory_order_relaxed); }
  };
  const Bytes* bytes_of(std::size_t number) const;

  int descriptor_;
  mutable std::deque<Block> blocks_;  // complete blocks of the file
  mutable std::atomic<std::int64_t> kept_{0};
};

}  // namespace wfacli
