#include "format/windows.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/letters.hpp"

namespace wfacli {
namespace {

// Symbols of query and target that a column of an operation consumes.
struct Step {
  int query = 0, target = 0;
};

Step step_of(std::uint32_t op) {
  switch (op) {
    case 0:
    case 7:
    case 8:
      return {1, 1};
    case 1:
      return {1, 0};
    case 2:
    case 3:
      return {0, 1};
    case 4:
    case 5:
    case 6:
      return {0, 0};
    default:
      throw std::invalid_argument("an operation that no CIGAR has");
  }
}

template <class Letter>
class Walk {
 public:
  Walk(const PathLetters<Letter>& letters, std::int64_t windows) : letters_(letters), windows_(windows) {
    total_ = letters.query_len + letters.target_len;
    for (Buffer<std::int64_t>* column : {&out.matches, &out.columns}) {
      column->resize(static_cast<std::size_t>(windows));
      std::fill_n(column->data(), windows, 0);
    }
    mark();
  }

  void take(std::uint32_t op, std::int64_t length) {
    const Step step = step_of(op);
    if (!(step.query | step.target)) return;
    if (length * step.query > letters_.query_len - query_ || length * step.target > letters_.target_len - target_)
      throw std::invalid_argument("the path has more letters than the sequences");
    while (length > 0) {
      // Columns up to the boundary of the window, at least one: a boundary inside a column moves behind it.
      const int each = step.query + step.target;
      const std::int64_t part = std::clamp<std::int64_t>((border() - query_ - target_) / each, 1, length);
      const std::int64_t window = static_cast<std::int64_t>(out.query.size()) - 1;
      out.columns[window] += part;
      if (op == 7 || op == 0) out.matches[window] += op == 7 ? part : equal(part);
      query_ += part * step.query;
      target_ += part * step.target;
      length -= part;
      while (query_ + target_ >= border() && static_cast<std::int64_t>(out.query.size()) < windows_) mark();
    }
  }

  PathWindows end() {
    if (query_ != letters_.query_len || target_ != letters_.target_len)
      throw std::invalid_argument("the path has fewer letters than the sequences");
    while (static_cast<std::int64_t>(out.query.size()) <= windows_) mark();
    return std::move(out);
  }

 private:
  // Returns the end of the current window, in symbols of both sequences.
  std::int64_t border() const {
    const std::int64_t open = static_cast<std::int64_t>(out.query.size());
    return open >= windows_ ? total_ : total_ * open / windows_;
  }

  void mark() {
    out.query.push(query_);
    out.target.push(target_);
  }

  std::int64_t equal(std::int64_t count) const {
    std::int64_t same = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t q = letters_.reverse ? letters_.query_len - 1 - (query_ + i) : query_ + i;
      same += match(letters_.query[q], letters_.target[target_ + i]);
    }
    return same;
  }

  bool match(Letter q, Letter t) const {
    if constexpr (sizeof(Letter) == 1)
      if (!letters_.literal) {
        const int a = kLetters.base[q], b = kLetters.base[t];
        return a && b && (letters_.reverse ? a + b == 5 : a == b);
      }
    return q == t;
  }

  const PathLetters<Letter>& letters_;
  std::int64_t windows_, total_, query_ = 0, target_ = 0;
  PathWindows out;
};

}  // namespace

template <class Letter>
PathWindows path_windows(const PathLetters<Letter>& letters, const std::uint32_t* runs, std::int64_t count,
                         std::int64_t windows) {
  Walk<Letter> walk(letters, windows);
  for (std::int64_t i = 0; i < count; ++i) walk.take(runs[i] & 15u, runs[i] >> 4);
  return walk.end();
}

template PathWindows path_windows(const PathLetters<std::uint8_t>&, const std::uint32_t*, std::int64_t, std::int64_t);
template PathWindows path_windows(const PathLetters<std::uint32_t>&, const std::uint32_t*, std::int64_t, std::int64_t);

}  // namespace wfacli
