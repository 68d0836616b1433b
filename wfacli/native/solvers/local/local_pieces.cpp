#include "solvers/local/local_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

namespace wfacli {

namespace {

void trace_piece(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options,
                 LocalPiece& piece) {
  LocalPath path(pair, piece.entry, same, options);
  try {
    LocalRow top;
    const auto count = static_cast<std::size_t>(piece.count);
    top.h.append(piece.h, count);
    top.f.append(piece.f, count);
    path.trace(piece.row, top, piece.first);
    piece.how = path.ended() ? LocalPiece::kEnded : LocalPiece::kLeft;
  } catch (const std::exception&) {  // no path, or no memory; must not propagate, as other threads are running
    piece.how = LocalPiece::kFailed;
  }
  piece.exit = path.place();
  const bool outside = piece.row == 0 || piece.exit.column < 0 || piece.exit.needed < 1;
  if (piece.how == LocalPiece::kLeft && outside) piece.how = LocalPiece::kFailed;
  piece.cells = path.cells();
  piece.cigar = std::move(path.cigar());
}

}  // namespace

void LocalCrew::trace(const LocalPair& pair, const std::uint8_t* same, const LocalPath::Options& options, int threads,
                      std::vector<LocalPiece>& pieces) {
  LocalPath::Options shared = options;
  shared.threads = pieces.size() < 2 ? std::max(threads, 1) : 1;
  const std::size_t count = std::clamp<std::size_t>(pieces.size(), 1, static_cast<std::size_t>(std::max(threads, 1)));
  while (members_.size() < count) members_.push_back(std::make_unique<Member>());
  std::atomic<std::size_t> next{0};
  const auto work_of = [&](Member& member) {
    return [&, own = &member] {
      LocalPath::Options mine = shared;
      mine.room = &own->room;
      for (std::size_t x = next.fetch_add(1); x < pieces.size(); x = next.fetch_add(1))
        trace_piece(pair, same, mine, pieces[x]);
    };
  };
  std::vector<decltype(work_of(*members_[0]))> works;
  for (std::size_t m = 0; m < count; ++m) works.push_back(work_of(*members_[m]));
  std::vector<EditHelper*> begun;
  begun.reserve(count);
  for (std::size_t m = 1; m < count; ++m)
    if (members_[m]->helper.begin(works[m])) begun.push_back(&members_[m]->helper);
  works[0]();
  for (EditHelper* helper : begun) helper->end();
}

}  // namespace wfacli
