// Pairs of a read's part and the window of the reference to which it is mapped, batch by batch.
#pragma once

#include <memory>
#include <vector>

#include "base/hashing.hpp"
#include "io/streams.hpp"
#include "mapped/in_step.hpp"
#include "mapped/mapped_window.hpp"
#include "mapped/mappings.hpp"
#include "mapped/shelf.hpp"

namespace wfacli {

struct MappedOptions {
  WindowOptions window;
  bool whole_reads = true;     // keep letters and qualities of whole reads, for SAM
  bool keep_unmapped = false;  // reads without a mapping are rows too, behind all others
  bool copy_tags = false;      // what SAM has as tags in reads' comments goes to their records,
  bool copy_group = false;     // or the read group alone
  bool read_group = false;     // all records get a read group of their own
  bool mates = false;          // stream 2 has the second mates of pairs, stream 0 the first ones
  bool in_step = false;        // mates are as a mapper pairs them (in_step.hpp), or that is a fault
  bool in_order = false;       // mappings come in the order of the reads, so what is unmapped keeps its place
  bool skip = false;           // leave mappings out that are faulty, and count them
  std::string folder;          // for temporary files
  std::size_t shelf = std::size_t{1} << 28;  // bytes of reads that may wait in memory
};

// What there is of a row beside its pair; wfacli.core.batch.Mapped.
struct MappedColumns {
  Buffer<std::int64_t> t_offset, t_total, letters, tags;
  Buffer<std::int32_t> clip_begin, clip_end, first, sam_flags, tags_len;
  Buffer<std::uint8_t> mapq;
  Buffer<std::int32_t> inner;  // q_beg q_end t_beg t_end of the mapped parts, in the row
};

struct MappedBatch {
  BatchColumns pairs;
  MappedColumns mapped;
};

struct MappedCounts {
  std::int64_t reads = 0, mapped_reads = 0, mappings = 0, skipped = 0;
  std::string first_skipped;       // what was wrong with it
  std::int64_t first_skipped_line = 0;
};

// Stream 0 has the reads, stream 1 the mappings. Mappings of a read, or of both mates, follow one another; reads may come in
// any order: those that come before their mappings wait on a shelf.
//
// Of mates, which mappings in SAM and BAM tell by their flags, the names of reads end in /1 and /2; or the first read of a
// name is the first mate, the second one the other; or streams 0 and 2 have one each.
class MappedReader : public StreamReader {
 public:
  // The reference must live as long as this.
  MappedReader(const Reference& reference, MappedOptions options);
  MappedBatch take();
  const MappedCounts& counts() const { return counts_; }
  // Where mappings are in_order fill() says End when there are no more, since what writes them may have failed; after this
  // come the reads that are left.
  void go_on() { goes_on_ = true; }

 private:
  // A row whose letters are to be filled in: those of the target, and of the read the other strand.
  struct Unfilled {
    std::size_t row;
    std::int32_t target;
    std::int64_t t_beg, t_end;          // its window
    std::int64_t text, quality;  // where the whole read and its qualities are in the text, as it came; or -1
    std::int64_t read_len;
    bool reverse;
  };
  class FillTask;

  Next fill_from_lines(std::int64_t weight) override;
  void complete() override;
  void fill_in(const Unfilled& row);
  Lines& lines(int stream) override { return stream == 1 ? mappings_.lines() : reads_of(stream).lines(); }
  const RecordStream* records(int stream) const override {
    return stream == 1 ? nullptr : stream == 0 ? &reads_ : &mates_;
  }
  RecordStream& reads_of(int stream) { return stream == 0 ? reads_ : mates_; }
  Next step();
  Got next_group();
  bool begin_template();
  void foresee(const Mapping& mapping, std::string_view read);
  bool told_by_name() const { return paired_ || options_.mates; }
  // Whether what mappings say to be unmapped becomes rows where it is said.
  bool keeps_place() const { return options_.in_order && options_.keep_unmapped; }
  // Whether a read that stands before the one of the next mappings has none, and need not wait.
  bool passes_over() const { return options_.in_order && mappings_.is_paf() && !told_by_name(); }
  Next wants_reads() const { return reads_from_ == 0 ? Next::NeedQuery : Next::NeedMates; }
  Got find_read(ReadView& read);
  Got next_read(ReadView& read);
  void identify(ReadView& read);
  void drop_faulty(const ReadView& read);
  void add_mappings(ReadView& read);
  void add_row(const ReadView& read, const Mapping& mapping, const Room& room, bool with_letters);
  void add_unmapped(const ReadView& read, std::int32_t flags, const Mapping* mapping = nullptr);
  void add_rest(ReadView& read);
  void begin_read(const ReadView& read);
  void push_tags(const Mapping* mapping);
  RecordParts::Keep kept() const { return {true, options_.whole_reads, options_.copy_tags || options_.copy_group}; }
  std::int64_t begin_row(const ReadView& read, bool with_letters);
  Next rest();
  void skip_or_throw(const InputFault& fault, std::int64_t mappings);

  const Reference& reference_;
  MappedOptions options_;
  RecordStream reads_, mates_;
  int reads_from_ = 0;                       // the stream that reads are taken from
  int rest_from_ = 0;                        // and where that is when there are no more mappings
  bool reads_end_ = false;                   // and none is left to be taken from
  bool paired_ = false;                      // mappings of mates were seen
  InStep step_;                              // where reads are in_step
  std::string identity_;                     // of a read whose name in the file does not say which mate it is
  NameSet seen_;                             // all reads so far
  Shelf shelf_;                              // those of them that no mapping has named yet

  MappingReader mappings_;
  Mapping ahead_;  // the one behind the group
  std::string ahead_name_, group_name_;
  bool looked_ahead_ = false, mappings_end_ = false, group_whole_ = false;
  std::vector<Mapping> group_;  // mappings of one read, or of both mates, those of the first one first
  std::size_t done_ = 0, end_ = 0;  // those that became rows; behind those of the read that is looked for
  std::int32_t first_ = 0;      // the group's first row
  bool goes_on_ = false;        // with the reads behind all mappings
  bool passed_over_ = false;    // a read became a row before the group did

  MappedColumns columns_;
  std::vector<Unfilled> unfilled_;
  std::string tags_;           // of the read whose rows are made
  std::int64_t tags_at_ = 0;   // in the batch's text
  std::string row_tags_;       // of a row whose mapping has some, too
  bool has_group_ = false;     // whether tags_ have a read group
  MappedCounts counts_;
};

}  // namespace wfacli
