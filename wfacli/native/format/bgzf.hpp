// BGZF blocks (SAM specification, section 4.1), compressed by libdeflate.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include "base/buffer.hpp"

namespace wfacli {

// Functions of libdeflate, which is part of a Python package and not linked.
struct Libdeflate {
  void* (*alloc_compressor)(int level);
  std::size_t (*deflate_compress)(void* compressor, const void* from, std::size_t from_size, void* to, std::size_t to_size);
  void (*free_compressor)(void* compressor);
  std::uint32_t (*crc32)(std::uint32_t crc, const void* data, std::size_t size);
};

struct BgzfBlocks {
  Buffer<std::uint8_t> bytes;
  Buffer<std::int64_t> sizes;  // of each block
};

// Returns data as blocks of `block` uncompressed bytes, of which the last may have fewer; without the block that ends a file.
inline BgzfBlocks bgzf_blocks(std::string_view data, std::size_t block, int level, const Libdeflate& by) {
  // gzip with an extra field of 6 bytes: the subfield BC, of 2 bytes, is the size of the block less 1.
  constexpr std::uint8_t kHeader[] = {31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0};
  constexpr std::size_t kMost = std::size_t{1} << 16, kFooter = 8;
  const std::unique_ptr<void, void (*)(void*)> compressor(by.alloc_compressor(level), by.free_compressor);
  if (!compressor) throw std::bad_alloc();
  BgzfBlocks out;
  const auto number = [&](auto value) { out.bytes.append(reinterpret_cast<const std::uint8_t*>(&value), sizeof value); };
  for (std::size_t at = 0; at < data.size(); at += block) {
    const std::string_view part = data.substr(at, block);
    const std::size_t begin = out.bytes.size(), body = begin + sizeof kHeader + sizeof(std::uint16_t);
    out.bytes.append(kHeader, sizeof kHeader);
    out.bytes.resize(begin + kMost);
    const std::size_t size = by.deflate_compress(compressor.get(), part.data(), part.size(), out.bytes.data() + body,
                                                 begin + kMost - kFooter - body);
    if (size == 0) throw std::length_error("the data of a block do not fit it");
    out.bytes.resize(body + size);
    number(by.crc32(0, part.data(), part.size()));
    number(static_cast<std::uint32_t>(part.size()));
    const auto last = static_cast<std::uint16_t>(out.bytes.size() - begin - 1);
    std::memcpy(out.bytes.data() + begin + sizeof kHeader, &last, sizeof last);
    out.sizes.push(static_cast<std::int64_t>(out.bytes.size() - begin));
  }
  return out;
}

}  // namespace wfacli
