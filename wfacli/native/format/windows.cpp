#include "format/windows.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/symbols.hpp"

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

template <class Symbol>
class Walk {
 public:
  Walk(const PathSequences<Symbol>& sequences, std::int64_t windows) : sequences_(sequences), windows_(windows) {
    total_ = sequences.query_len + sequences.target_len;
    for (Buffer<std::int64_t>* column : {&out.matches, &out.columns}) {
      column->resize(static_cast<std::size_t>(windows));
      std::fill_n(column->data(), windows, 0);
    }
    mark();
  }

  void take(std::uint32_t op, std::int64_t length) {
    const Step step = step_of(op);
    if (!(step.query | step.target)) return;
    if (length * step.query > sequences_.query_len - query_ || length * step.target > sequences_.target_len - target_)
      throw std::invalid_argument("the path has more symbols than the sequences");
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
    if (query_ != sequences_.query_len || target_ != sequences_.target_len)
      throw std::invalid_argument("the path has fewer symbols than the sequences");
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
      const std::int64_t q = sequences_.reverse ? sequences_.query_len - 1 - (query_ + i) : query_ + i;
      same += match(sequences_.query[q], sequences_.target[target_ + i]);
    }
    return same;
  }

  bool match(Symbol q, Symbol t) const {
    if constexpr (sizeof(Symbol) == 1)
      if (!sequences_.literal) {
        const int a = kSymbols.base[q], b = kSymbols.base[t];
        return a && b && (sequences_.reverse ? a + b == 5 : a == b);
      }
    return q == t;
  }

  const PathSequences<Symbol>& sequences_;
  std::int64_t windows_, total_, query_ = 0, target_ = 0;
  PathWindows out;
};

}  // namespace

template <class Symbol>
PathWindows path_windows(const PathSequences<Symbol>& sequences, const std::uint32_t* runs, std::int64_t count,
                         std::int64_t windows) {
  Walk<Symbol> walk(sequences, windows);
  for (std::int64_t i = 0; i < count; ++i) walk.take(runs[i] & 15u, runs[i] >> 4);
  return walk.end();
}

template PathWindows path_windows(const PathSequences<std::uint8_t>&, const std::uint32_t*, std::int64_t,
                                  std::int64_t);
template PathWindows path_windows(const PathSequences<std::uint32_t>&, const std::uint32_t*, std::int64_t,
                                  std::int64_t);

}  // namespace wfacli
