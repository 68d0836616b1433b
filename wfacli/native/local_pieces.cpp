#include "local_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace wfacli {

namespace {

void walk_piece(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options, LocalPiece& piece) {
  LocalPath path(pair, piece.entry, same, options);
  LocalRow top;
  const auto count = static_cast<std::size_t>(piece.count);
  top.h.append(piece.h, count);
  top.f.append(piece.f, count);
  try {
    path.walk(piece.row, top, piece.first);
    piece.how = path.ended() ? LocalPiece::kEnded : LocalPiece::kLeft;
  } catch (const std::logic_error&) {
    piece.how = LocalPiece::kFailed;
  }
  piece.exit = path.place();
  const bool outside = piece.row == 0 || piece.exit.column < 0 || piece.exit.needed < 1;
  if (piece.how == LocalPiece::kLeft && outside) piece.how = LocalPiece::kFailed;
  piece.cells = path.cells();
  piece.cigar = std::move(path.cigar());
}

}  // namespace

void walk_pieces(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options, int threads,
                 std::vector<LocalPiece>& pieces) {
  LocalPath::Options own = options;
  own.threads = pieces.size() < 2 ? std::max(threads, 1) : 1;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t x = next.fetch_add(1); x < pieces.size(); x = next.fetch_add(1))
      walk_piece(pair, same, own, pieces[x]);
  };
  std::vector<std::thread> others;
  try {
    for (int t = 1; t < std::min<int>(threads, static_cast<int>(pieces.size())); ++t) others.emplace_back(work);
  } catch (const std::system_error&) {
    // With fewer, then.
  }
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace wfacli
