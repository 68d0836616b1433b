#include "mapped/mapping_stream.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/hashing.hpp"
#include "io/builder.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kPieceBytes = 16 << 10;  // minimum, since waking a thread takes as long as parsing about 2 kB
constexpr std::size_t kLineBytes = 80;         // of a short line, about
constexpr std::size_t kPiecesPerThread = 2;    // so that no thread waits for one that began late

}  // namespace

// Some lines, parsed by one thread. Line numbers count from the first of them.
struct MappingStream::Piece : ThreadPool::Task {
  MappingReader reader;
  std::string_view text;
  std::vector<ParsedMapping> items;  // names are in the lines of `reader`
  std::exception_ptr error;
  bool lent = false;  // a batch has a share, so that other lines need a piece of their own

  Piece(const Reference& reference, const WindowOptions& options)
      : reader(reference), reference_(reference), options_(options) {}

  void begin(const MappingReader& after, std::string_view lines) {
    reader.continue_after(after);
    text = lines;
    error = nullptr;
    prepare();
  }

  void work() override {
    try {
      items.clear();
      items.reserve(text.size() / kLineBytes);
      Lines& lines = reader.lines();
      lines.clear();
      std::memcpy(lines.prepare(text.size()), text.data(), text.size());
      lines.commit(text.size());
      lines.close();
      while (parse_one()) continue;
    } catch (...) {
      error = std::current_exception();
    }
  }

 private:
  // Returns false at the end of the piece.
  bool parse_one() {
    ParsedMapping item;
    try {
      if (reader.next(item.mapping, item.read) != ParseResult::Item) return false;
      item.key = NameSet::key(item.read);
      item.weight = weight_of(item.mapping);
    } catch (const InputFault& fault) {
      item.fault = std::make_unique<InputFault>(fault);
    }
    const bool ends = item.fault && item.fault->fatal;
    items.push_back(std::move(item));
    return !ends;
  }

  std::int64_t weight_of(const Mapping& mapping) const {
    if (mapping.kind == MappingKind::Unmapped) return 0;
    const Window w = window_of(mapping, Room{0, mapping.q_len}, reference_.length(mapping.target), options_);
    return w.q_end - w.q_beg + (w.t_end - w.t_beg) + BatchBuilder::kPairWeight;
  }

  const Reference& reference_;
  const WindowOptions& options_;
};

MappingStream::~MappingStream() { drop_pieces(); }

void MappingStream::drop_pieces() {
  for (; piece_ < used_; ++piece_) pieces_[piece_]->drop();
}

ParseResult MappingStream::next(Mapping& mapping, std::string_view& read, ThreadPool* pool) {
  do {
    if (next_parsed(mapping, read)) return ParseResult::Item;
  } while (pool && split(*pool));
  return reader_.next(mapping, read);
}

// Returns the current piece once it is parsed; null if there is none, or if it has no mapping left that is without faults.
MappingStream::Piece* MappingStream::ready() {
  if (piece_ == used_) return nullptr;
  Piece& piece = *pieces_[piece_];
  piece.finish();
  const bool has = !piece.error && !piece.reader.header_inside() && item_ < piece.items.size() && !piece.items[item_].fault;
  return has ? &piece : nullptr;
}

ParsedMapping* MappingStream::lone() {
  Piece* const piece = ready();
  if (!piece) return nullptr;
  std::vector<ParsedMapping>& items = piece->items;
  const bool alone = item_ + 1 < items.size() && !items[item_ + 1].fault && items[item_ + 1].read != items[item_].read;
  return alone ? &items[item_] : nullptr;
}

std::shared_ptr<void> MappingStream::lend() {
  pieces_[piece_]->lent = true;
  return pieces_[piece_];
}

const void* MappingStream::memory_of_lone() const { return pieces_[piece_].get(); }

bool MappingStream::next_is_other(std::string_view read) {
  const Piece* piece = ready();
  return piece && piece->items[item_].read != read;
}

// Takes a mapping of the pieces; returns false if none is left.
bool MappingStream::next_parsed(Mapping& mapping, std::string_view& read) {
  for (; piece_ < used_; ++piece_, item_ = 0) {
    Piece& piece = *pieces_[piece_];
    piece.finish();
    if (piece.error) std::rethrow_exception(piece.error);
    if (piece.reader.header_inside()) {
      header_inside_ = true;
      drop_pieces();
      return false;
    }
    const std::int64_t lines_before = lines().number();
    if (item_ < piece.items.size()) {
      ParsedMapping& item = piece.items[item_++];
      if (item.fault) {
        item.fault->line += lines_before;
        throw *item.fault;
      }
      mapping = std::move(item.mapping);
      mapping.line += lines_before;
      read = item.read;
      return true;
    }
    lines().skip(piece.text.size(), piece.reader.lines().number());
  }
  return false;
}

// Lets the threads of the pool parse the complete lines that are buffered. Returns false if these are too few, or if
// they must be parsed one by one.
bool MappingStream::split(ThreadPool& pool) {
  if (header_inside_ || !reader_.is_after_header()) return false;
  const std::string_view unread = lines().unread();
  const std::size_t end = unread.rfind('\n') + 1;  // 0 if there is none
  if (end < 2 * kPieceBytes) return false;
  const std::size_t threads = static_cast<std::size_t>(pool.threads()) + 1;
  const std::size_t size = std::max(kPieceBytes, end / (kPiecesPerThread * threads));
  piece_ = used_ = item_ = 0;
  for (std::size_t first = 0, last = 0; first < end; first = last, ++used_) {
    last = end - first <= size ? end : unread.find('\n', first + size - 1) + 1;
    if (used_ == pieces_.size()) pieces_.emplace_back();
    if (!pieces_[used_] || pieces_[used_]->lent) pieces_[used_] = std::make_shared<Piece>(reference_, options_);
    pieces_[used_]->begin(reader_, unread.substr(first, last - first));
    if (used_ > 0) pool.add(pieces_[used_]);  // the first one is parsed by the caller
  }
  return true;
}

}  // namespace wfacli
