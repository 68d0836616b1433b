// Traceback of a LaneGroup; included into that class (bits_lanes.hpp). It runs from (n, m) of the reversed matrix to
// (0, 0), so operations come in forward order. It prefers insertions to deletions, and both to the diagonal.

  // Traces all lanes together, column by column. Each lane records insertions, deletions and mismatches in three bit
  // strings: word k is at [k][string][lane], column 64 k + 1 + p in bit p.
  void trace_together(int count, const LanesAnswer* answers) {
    const std::int32_t blocks = (columns_ + 63) / 64;
    events_ = aligned_words(memory_.events, static_cast<std::size_t>(blocks) * 3 * kLanes);
    for (int l = 0; l < kLanes; ++l) {
      memory_.repeats[l].clear();
      joins_[l] = l < count && answers[l].status == Status::Ok ? m_[l] : -1;
    }
    V at = zeros();
    for (std::int32_t j = columns_, top = blocks * 64; top > 0; top -= 64) {
      V seen[3] = {zeros(), zeros(), zeros()};
      while (j > top - 64) {
        std::int32_t stop = top - 64;
        for (int l = 0; l < kLanes; ++l) {
          if (joins_[l] == j) at[l] = Word{1} << (origin_[l] + n_[l] - m_[l]);
          if (joins_[l] < j && joins_[l] > stop) stop = joins_[l];
        }
        trace_columns(at, seen, j, stop);
        j = stop;
      }
      for (int s = 0; s < 3; ++s) store(events_ + (static_cast<std::size_t>(top / 64 - 1) * 3 + s) * kLanes, seen[s]);
    }
    for (int l = 0; l < kLanes; ++l) first_row_[l] = (at[l] ? __builtin_ctzll(at[l]) : origin_[l] + n_[l]) - origin_[l];
  }

  // Processes columns `from` down to `to` + 1.
  WFACLI_INLINE void trace_columns(V& at, V* seen, std::int32_t from, std::int32_t to) {
    V bit = at, insertions = seen[0], deletions = seen[1], mismatches = seen[2];
    const Word* trace = trace_ + static_cast<std::size_t>(from) * trace_stride();
    for (std::int32_t j = from; j > to; --j) {
      trace -= trace_stride();
      const V gap = load(trace), other = load(trace + kLanes);
      V up = and_both(gap, other, bit);
      insertions = append_bit(insertions, up);
      bit -= up >> 1;
      up = and_both(gap, other, bit);
      while (__builtin_expect(any(up), 0)) {
        for (int l = 0; l < kLanes; ++l)
          if (up[l]) memory_.repeats[l].push(j);
        bit -= up >> 1;
        up = and_both(gap, other, bit);
      }
      const V left = and_only(gap, bit, other);
      deletions = append_bit(deletions, left);
      mismatches = append_bit(mismatches, and_only(other, bit, gap));
      bit += left;
    }
    at = bit;
    seen[0] = insertions;
    seen[1] = deletions;
    seen[2] = mismatches;
  }

  void write_events(int l, RunWriter& runs) const {
    const std::int32_t* repeat = memory_.repeats[l].data();
    const std::int32_t* const no_more = repeat + memory_.repeats[l].size();
    std::int32_t reached = m_[l];  // columns beyond it are written
    for (std::int32_t k = (m_[l] + 63) / 64 - 1; k >= 0; --k) {
      const Word* words = events_ + static_cast<std::size_t>(k) * 3 * kLanes + l;
      const Word insertions = words[0], deletions = words[kLanes];
      const Word diagonal = words[2 * kLanes] | deletions;
      for (Word left = insertions | diagonal; left;) {
        const int p = 63 - __builtin_clzll(left);
        left ^= Word{1} << p;
        const std::int32_t j = 64 * k + 1 + p;
        runs.matches(reached - j);
        const bool inserts = insertions >> p & 1, leaves = diagonal >> p & 1;
        const std::uint32_t op = deletions >> p & 1 ? kDeletion : kDifferent;
        reached = leaves ? j - 1 : j;
        runs.add(inserts ? kInsertion : op, 1);
        if (__builtin_expect(repeat != no_more && *repeat == j, 0))
          for (; repeat != no_more && *repeat == j; ++repeat) runs.add(kInsertion, 1);
        if (__builtin_expect(inserts & leaves, 0)) runs.add(op, 1);
      }
    }
    runs.matches(reached);
    if (first_row_[l] > 0) runs.add(kInsertion, first_row_[l]);
  }

  // Traces one lane.
  void trace_path(int l, RunWriter& runs) const {
    std::int32_t j = m_[l], b = origin_[l] + n_[l] - m_[l], matched = 0;
    while (j > 0) {
      const Word* trace = trace_ + static_cast<std::size_t>(j - 1) * trace_stride() +
                          static_cast<std::size_t>(b >> 6) * 2 * kLanes + l;
      const bool gap = trace[0] >> (b & 63) & 1, other = trace[kLanes] >> (b & 63) & 1;
      if (!gap && !other) {
        ++matched;
        --j;
        continue;
      }
      runs.matches(matched);
      matched = 0;
      runs.add(gap ? other ? kInsertion : kDeletion : kDifferent, 1);
      b += gap ? other ? -1 : 1 : 0;
      j -= !(gap && other);
    }
    runs.matches(matched);
    if (b > origin_[l]) runs.add(kInsertion, b - origin_[l]);
  }
