#include "io/file_blocks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "io/read_ahead.hpp"

namespace wfacli {

FileBlocks::FileBlocks(int descriptor) : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  if (descriptor_ < 0) throw std::runtime_error(std::strerror(errno));
  struct stat file{};
  if (::fstat(descriptor_, &file) == 0) blocks_.resize(static_cast<std::size_t>(file.st_size) / kBytes);
}

FileBlocks::~FileBlocks() { ::close(descriptor_); }

std::size_t FileBlocks::read(std::int64_t offset, std::uint8_t* to, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t at = static_cast<std::size_t>(offset) + done, column = at % kBytes;
    const Bytes* bytes = bytes_of(at / kBytes);
    if (!bytes) return done + read_at(descriptor_, static_cast<std::int64_t>(at), to + done, size - done);
    const std::size_t count = std::min(size - done, kBytes - column);
    std::memcpy(to + done, bytes->data() + column, count);
    done += count;
  }
  return done;
}

// Returns the bytes of a block, or null if they are not in memory.
const FileBlocks::Bytes* FileBlocks::bytes_of(std::size_t number) const {
  if (number >= blocks_.size()) return nullptr;
  Block& block = blocks_[number];
  if (const Bytes* bytes = block.bytes.load(std::memory_order_acquire)) return bytes;
  // Exactly one thread counts the read from which on the block is kept.
  if (block.reads.load(std::memory_order_relaxed) >= kOften || block.reads.fetch_add(1) + 1 != kOften) return nullptr;
  if (kept_.fetch_add(1) >= kMost) return nullptr;
  auto bytes = std::make_unique<Bytes>();
  if (read_at(descriptor_, static_cast<std::int64_t>(number * kBytes), bytes->data(), kBytes) != kBytes) return nullptr;
  block.bytes.store(bytes.get(), std::memory_order_release);
  return bytes.release();
}

}  // namespace wfacli
