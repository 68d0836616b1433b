// Mappings of a file, in order: several threads parse the buffered lines if there are enough of them.
#pragma once

#include <memory>
#include <vector>

#include "io/read_ahead.hpp"
#include "mapped/mapped_window.hpp"

namespace wfacli {

// A mapping that a thread has parsed, or a fault in its place.
struct ParsedMapping {
  Mapping mapping;
  std::string_view read;   // name
  std::uint64_t key = 0;   // of the name, see NameSet
  std::int64_t weight = 0;  // bases that are aligned if the mapping is the only one of its read
  std::unique_ptr<InputFault> fault;
};

class MappingStream {
 public:
  // `options`: see ParsedMapping::weight. Both must outlive the stream.
  MappingStream(const Reference& reference, const WindowOptions& options)
      : reference_(reference), options_(options), reader_(reference) {}
  ~MappingStream();
  MappingStream(const MappingStream&) = delete;
  MappingStream& operator=(const MappingStream&) = delete;

  // Same as of MappingReader. `pool`: threads that help; null if there are none. lines() may change only after next()
  // has returned NeedInput.
  Lines& lines() { return reader_.lines(); }
  ParseResult next(Mapping& mapping, std::string_view& read, ThreadPool* pool);
  // Returns what next() would return, if a thread has parsed it and the mapping behind it, which is of another read;
  // null otherwise. It is valid until take_lone() or next() is called.
  ParsedMapping* lone();
  void take_lone() { ++item_; }
  // Returns a share in the memory of the mapping of lone(), which is then its holder's alone.
  std::shared_ptr<void> lend();
  const void* memory_of_lone() const;  // what lend() returns
  // True if next() is known to return a mapping of a read other than `read`.
  bool next_is_other(std::string_view read);
  bool is_paf() const { return reader_.is_paf(); }
  // Without a pool: offset of the mapping that next() returned last, and of what follows it.
  std::int64_t place_of_last() const { return reader_.place_of_last(); }
  std::int64_t end() const { return reader_.end(); }
  std::int64_t first_at() const { return reader_.first_at(); }

 private:
  struct Piece;
  bool next_parsed(Mapping& mapping, std::string_view& read);
  Piece* ready();
  bool split(ThreadPool& pool);
  void drop_pieces();

  const Reference& reference_;
  const WindowOptions& options_;
  MappingReader reader_;  // for lines that no piece has
  std::vector<std::shared_ptr<Piece>> pieces_;
  std::size_t piece_ = 0, used_ = 0;  // pieces_[piece_] to pieces_[used_ - 1] have mappings that were not taken
  std::size_t item_ = 0;              // of pieces_[piece_]
  bool header_inside_ = false;        // a header line followed mappings, so that lines must be parsed one by one
};

}  // namespace wfacli
