// Reader of mapped reads: pairs of a part of a read and the reference window that it is mapped to, batch by batch.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hashing.hpp"
#include "io/streams.hpp"
#include "mapped/mate_order.hpp"
#include "mapped/mapped_batch.hpp"
#include "mapped/mapped_window.hpp"
#include "mapped/mapping_stream.hpp"
#include "mapped/read_spill.hpp"

namespace wfacli {

struct MappedOptions : RowOptions {
  bool keep_unmapped = false;  // add unmapped reads as rows, after all others
  bool mates = false;          // second mates come from stream 2, first mates from stream 0
  bool check_mate_order = false;  // mates must be in the order that mappers require (mate_order.hpp)
  bool in_order = false;       // mappings are in the order of the reads, so unmapped reads keep their position
  bool skip = false;           // skip and count invalid mappings
  std::string folder;          // for temporary files
  std::size_t max_buffered_bytes = std::size_t{1} << 28;  // maximum bytes of waiting reads in memory
};

struct MappedCounts {
  std::int64_t reads = 0, mapped_reads = 0, mappings = 0, skipped = 0;
  std::int64_t reported = 0;       // reads with at least one line among the mappings, mapped or not
  std::string first_skipped;       // error message of the first skipped mapping
  std::int64_t first_skipped_line = 0;
};

// Stream 0 has the reads, stream 1 the mappings. Mappings of a read, or of both mates, must be consecutive. Reads may
// be in any order; reads that come before their mappings are buffered, and spilled to disk if necessary (ReadSpill).
//
// Mappings in SAM and BAM identify mates by flags. Reads identify them by names that end in /1 and /2, by order (the
// first read of a name is the first mate), or by stream (0: first mates, 2: second mates).
class MappedReader : public StreamReader {
 public:
  // The reference must outlive the reader.
  MappedReader(const Reference& reference, MappedOptions options);
  PendingMapped take();
  std::int64_t pending_pairs() const override { return static_cast<std::int64_t>(batch_.size()); }
  const MappedCounts& counts() const { return counts_; }
  const Reference& reference() const { return reference_; }
  // With in_order, fill() returns End after the last mapping, so that the caller can check whether the mapper failed.
  // After resume_unmapped(), fill() continues with the remaining reads.
  void resume_unmapped() { resumed_ = true; }
  // Not with start_threads(): mappings that threads parse in pieces have no places.
  void track() override;
  // See StreamReader: of reads, mappings and, if there are any, mates. An offset is -1 inside a template.
  std::vector<StreamPlace> places() const override;
  // Offset of the first mapping in its stream, behind a header; 0 without a mapping.
  std::int64_t first_mapping() const { return mappings_.first_at(); }
  // Number of reads that came before their mappings so far, and the earliest of those, by that number, whose mapping
  // came since the last call; SIZE_MAX if there was none. Reads and mappings can be cut at places() only if no mapping
  // behind them names a read before them.
  std::size_t early_reads() const { return spill_.put_count(); }
  // True if a batch was taken, and since the last call the first read after it was the mate of the last one before it.
  bool splits_mates() { return std::exchange(splits_mates_, false); }
  std::size_t earliest_named() { return spill_.earliest_taken(); }

 private:
  Next fill_from_lines(std::int64_t weight) override;
  Lines& lines(int stream) override { return stream == 1 ? mappings_.lines() : reads_of(stream).lines(); }
  const RecordStream* records(int stream) const override {
    return stream == 1 ? nullptr : stream == 0 ? &reads_ : &mates_;
  }
  RecordStream& reads_of(int stream) { return stream == 0 ? reads_ : mates_; }
  Next step();
  bool add_lone();
  void add_lone_row(ParsedMapping& lone);
  ParseResult next_group();
  bool begin_template();
  bool mates_by_name() const { return paired_ || options_.mates; }
  // True if unmapped records among the mappings become rows at their position.
  bool keeps_place() const { return options_.in_order && options_.keep_unmapped; }
  // True if a read before the one of the next mappings is known to be unmapped, so that it need not be buffered.
  bool skips_unmapped() const { return options_.in_order && mappings_.is_paf() && !mates_by_name(); }
  Next needs_reads() const { return reads_from_ == 0 ? Next::NeedQuery : Next::NeedMates; }
  ParseResult find_read(ReadView& read);
  ParseResult next_in_order(ReadView& read);
  ParseResult next_read(ReadView& read);
  void view_next(ReadView& read);
  void keep_records();
  void identify(ReadView& read);
  void compare_with_last(std::string_view name);
  void drop_faulty(const ReadView& read);
  void add_mappings(ReadView& read);
  void add_rows(const ReadView& read, Mapping* own, std::size_t count);
  void add_unmapped(const ReadView& read, std::int32_t flags, const Mapping* mapping = nullptr);
  void add_rest(ReadView& read);
  void note_group(std::string_view name, const Mapping& mapping);
  const Mapping* noted(std::string_view name);
  std::int32_t next_row() const { return static_cast<std::int32_t>(batch_.size()); }
  RecordParts::Keep keep_options() const {
    return {true, options_.whole_reads, options_.has_comments(), true};
  }
  Next rest();
  void skip_or_throw(const InputFault& fault, std::int64_t mappings);

  const Reference& reference_;
  MappedOptions options_;
  RecordStream reads_, mates_;
  int reads_from_ = 0;                       // stream of the next read
  int rest_from_ = 0;                        // the same, after the last mapping
  bool reads_end_ = false;                   // all streams of reads have ended
  bool paired_ = false;                      // mappings with mate flags were seen
  MateOrder mate_order_;                     // used if options_.check_mate_order
  std::string identity_;                     // name with /2 of a second mate whose name in the file has no suffix
  NameSet seen_;                             // names of all reads so far
  ReadSpill spill_;                          // reads that no mapping has named yet

  MappingStream mappings_;
  Mapping ahead_;  // the mapping after the group
  std::string ahead_name_, group_name_;
  std::unique_ptr<InputFault> fault_ahead_;  // of the mapping after the group, which is of another read
  bool looked_ahead_ = false, mappings_end_ = false, group_whole_ = false;
  std::vector<Mapping> group_;  // mappings of one read, or of the first mate, then the second
  std::size_t done_ = 0, end_ = 0;  // mappings before done_ are rows; [done_, end_) belong to the current read
  std::int32_t first_ = 0;      // first row of the group
  std::vector<Room> rooms_;     // of the current read's mappings
  bool resumed_ = false;        // resume_unmapped() was called
  bool tracked_ = false, at_place_ = false, splits_mates_ = false;  // see track(), splits_mates()
  std::string last_read_;       // name of the last read of stream 0 without the number of the mate, if tracked_
  bool passed_over_ = false;    // find_read() added an unmapped read as a row instead

  PendingMapped batch_;
  std::int64_t weight_ = 0;     // of the batch, in bases; see BatchBuilder::weight()
  RowMaker maker_;
  // Read groups of unmapped reads whose own record was passed over, by the key of their name.
  std::unordered_map<std::uint64_t, std::string> groups_;
  Mapping noted_;
  MappedCounts counts_;
};

}  // namespace wfacli
