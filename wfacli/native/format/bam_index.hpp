// Index of a sorted BAM file, made while the file is written (SAM specification, section 5; CSI specification).
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"

namespace wfacli {

class BamIndex {
 public:
  // Index of `targets` reference sequences of up to `longest` bases: CSI, or BAI, whose sequences have up to 2^29 bases.
  BamIndex(std::int64_t targets, std::int64_t longest, bool csi);

  // Adds the records of the next BGZF blocks: `records` are complete and in order, each block has `block_bytes` of them
  // (the last one may have fewer). `blocks`: offsets of the blocks in the file, and of the end of the last.
  // Throws std::invalid_argument if that is not so.
  void add(std::string_view records, std::size_t block_bytes, const std::vector<std::uint64_t>& blocks);
  // Returns the file; CSI is to be compressed as BGZF.
  Buffer<char> finish();

 private:
  struct Chunk {
    std::uint64_t begin, end;  // virtual offsets
  };
  // Where a record is in the genome and in the file.
  struct Place {
    std::int32_t target;
    std::int64_t begin, end;
    bool mapped;
    Chunk chunk;
  };
  void add_record(const Place& place);
  std::uint32_t bin_of(std::int64_t begin, std::int64_t end) const;
  // Returns the first window of a bin, for CSI's offset of its first record.
  std::size_t first_window(std::uint32_t bin) const;
  void add_window_offsets(const Place& place);
  // Writes the sequence whose records are complete, and those without records before `next`.
  void finish_target(std::int64_t next);
  void write_bins();

  std::int64_t targets_, current_ = 0;  // sequence of the records at hand
  bool csi_;
  int levels_;
  std::map<std::uint32_t, std::vector<Chunk>> bins_;
  std::vector<std::uint64_t> windows_;  // offset of the first record in each window of 2^14 bases; kNone: no record
  Chunk span_{};                        // of all records of the sequence
  std::uint64_t mapped_ = 0, unmapped_ = 0, without_target_ = 0;
  Buffer<char> out_;
};

}  // namespace wfacli
