#include "mapped/mapped_batch.hpp"

#include <algorithm>
#include <cstring>

#include "base/reverse_complement.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kAhead = 4;  // rows between a prefetch of the target and its use

// Sizes in bytes of a row's parts.
std::size_t bases_of(const MappedRow& row) {
  return aligned(static_cast<std::size_t>(row.q_len)) + aligned(static_cast<std::size_t>(row.t_end - row.t_beg));
}

std::size_t text_of(const MappedRow& row, const Reference& reference) {
  const std::size_t target = row.target < 0 ? 0 : reference.name(row.target).size();
  return target + static_cast<std::size_t>(row.name.size + row.tags.size);
}

std::size_t read_of(const MappedRow& row) {
  return static_cast<std::size_t>(std::int64_t{row.bases.size} * (1 + row.has_quality));
}

// Finds the row that has a read already: all rows of a read on one strand share its copy, since an assembly may have thousands
// of parts, each with millions of clipped bases.
class ReadOwners {
 public:
  explicit ReadOwners(const MappedRow* rows) : rows_(rows) {}

  // Returns the row that owns the read of row i, which may be i itself. Rows are asked in order.
  std::size_t of(std::size_t i) {
    const MappedRow& row = rows_[i];
    std::size_t& last = last_[row.reverse];
    if (last == kNone || !is_same(rows_[last], row)) last = i;
    return last;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  static bool is_same(const MappedRow& x, const MappedRow& y) {
    return x.bases.lasting == y.bases.lasting && x.bases.at == y.bases.at && x.bases.size == y.bases.size &&
           x.has_quality == y.has_quality;
  }

  const MappedRow* rows_;
  std::size_t last_[2] = {kNone, kNone};  // on either strand
};

// Copies rows into the columns of a batch.
class RowCopier {
 public:
  RowCopier(const PendingMapped& from, const Reference& reference, MappedBatch& to)
      : kept_(from.kept.data()), reference_(reference), c_(to.pairs), m_(to.mapped), owners_(from.rows.data()) {
    const std::size_t n = from.rows.size();
    std::size_t bases = 0, text = 0;
    ReadOwners owners(from.rows.data());
    for (std::size_t i = 0; i < n; ++i) {
      const MappedRow& row = from.rows[i];
      bases += bases_of(row), text += text_of(row, reference);
      if (row.whole && owners.of(i) == i) text += read_of(row);
    }
    for (auto* column : {&c_.q_start, &c_.t_start, &c_.q_name, &c_.t_name, &c_.qual, &m_.t_offset, &m_.t_total,
                         &m_.read_start, &m_.tags})
      column->resize(n);
    for (auto* column : {&c_.q_len, &c_.t_len, &c_.q_name_len, &c_.t_name_len, &m_.clip_begin, &m_.clip_end, &m_.first,
                         &m_.sam_flags, &m_.tags_len})
      column->resize(n);
    for (auto* column : {&c_.flags, &m_.mapq}) column->resize(n);
    for (auto* column : {&m_.inner, &m_.room}) column->resize(4 * n);
    c_.bases.extend(bases + kOverread);
    std::memset(c_.bases.data() + bases, 0, kOverread);
    c_.text.resize(text);
  }

  void copy(const MappedRow& row, std::size_t i) {
    const std::uint8_t classes = copy_query(row, i) | copy_target(row, i);
    c_.flags[i] = classes;
    c_.q_name_len[i] = row.name.size;
    c_.q_name[i] = add(row.name);
    m_.tags_len[i] = row.tags.size;
    m_.tags[i] = add(row.tags);
    c_.qual[i] = m_.read_start[i] = -1;
    if (row.whole) copy_read(row, i);
    m_.clip_begin[i] = row.clip_begin;
    m_.clip_end[i] = row.clip_end;
    m_.first[i] = row.first;
    m_.sam_flags[i] = row.flags;
    m_.mapq[i] = row.mapq;
    std::copy_n(row.inner, 4, m_.inner.data() + 4 * i);
    std::copy_n(row.room, 4, m_.room.data() + 4 * i);
  }

 private:
  const char* text(const KeptText& kept) const { return kept.lasting ? kept.lasting : kept_ + kept.at; }

  std::int64_t add(const KeptText& kept) { return add(text(kept), static_cast<std::size_t>(kept.size)); }
  std::int64_t add(const char* text, std::size_t size) {
    if (size) std::memcpy(c_.text.data() + text_at_, text, size);
    return static_cast<std::int64_t>(std::exchange(text_at_, text_at_ + size));
  }

  // Begins a sequence with room for `size` bases, and zeros up to the next one.
  std::uint8_t* begin(std::size_t size) {
    std::uint8_t* to = c_.bases.data() + bases_at_;
    const std::size_t room = aligned(size);
    std::memset(to + size, 0, room - size);
    bases_at_ += room;
    return to;
  }

  static std::uint8_t classes(const std::uint8_t* bases, std::size_t size) {
    return symbol_classes({reinterpret_cast<const char*>(bases), size});
  }

  std::uint8_t copy_query(const MappedRow& row, std::size_t i) {
    const auto size = static_cast<std::size_t>(row.q_len);
    c_.q_start[i] = static_cast<std::int64_t>(bases_at_);
    c_.q_len[i] = row.q_len;
    std::uint8_t* to = begin(size);
    if (size) std::memcpy(to, text(row.bases) + row.q_beg, size);
    if (row.reverse) reverse_complement(to, size);
    return classes(to, size);
  }

  std::uint8_t copy_target(const MappedRow& row, std::size_t i) {
    const auto size = static_cast<std::size_t>(row.t_end - row.t_beg);
    const bool mapped = row.target >= 0;
    c_.t_start[i] = static_cast<std::int64_t>(bases_at_);
    c_.t_len[i] = static_cast<std::int32_t>(size);
    m_.t_offset[i] = row.t_beg;
    m_.t_total[i] = mapped ? reference_.length(row.target) : 0;
    const std::string_view name = mapped ? std::string_view(reference_.name(row.target)) : std::string_view();
    c_.t_name_len[i] = static_cast<std::int32_t>(name.size());
    c_.t_name[i] = add(name.data(), name.size());
    std::uint8_t* to = begin(size);
    if (mapped) reference_.copy(row.target, row.t_beg, row.t_end, to);
    return classes(to, size);
  }

  // Copies the whole read and its quality, on the aligned strand, unless another row has them.
  void copy_read(const MappedRow& row, std::size_t i) {
    if (const std::size_t owner = owners_.of(i); owner != i) {
      m_.read_start[i] = m_.read_start[owner];
      c_.qual[i] = c_.qual[owner];
      return;
    }
    const auto size = static_cast<std::size_t>(row.bases.size);
    m_.read_start[i] = add(row.bases);
    if (row.reverse) reverse_complement(c_.text.data() + m_.read_start[i], size);
    if (!row.has_quality) return;
    c_.qual[i] = add(row.quality);
    if (row.reverse) reverse(c_.text.data() + c_.qual[i], size);
  }

  const char* kept_;
  const Reference& reference_;
  BatchColumns& c_;
  MappedColumns& m_;
  ReadOwners owners_;
  std::size_t bases_at_ = 0, text_at_ = 0;
};

}  // namespace

// Makes the rows of lone reads, so that `rows` are all of the batch.
void PendingMapped::make_rows(const Reference& reference) {
  if (lone.empty()) return;
  Buffer<MappedRow> all;
  all.reserve(size());
  RowMaker maker(reference, *options, kept);
  std::size_t others = 0;
  const auto add_others = [&](std::size_t end) {
    for (; others < end; ++others) all.push(rows[others]);
  };
  ReadView read;
  read.lasts = read.name_lasts = true;
  for (const LoneRead* one = lone.data(); one < lone.data() + lone.size(); ++one) {
    add_others(one->before);
    view_record(*one->records, one->at, options->has_comments(), read);
    classify_mappings(one->mapping, 1);
    maker.begin(read, static_cast<std::int32_t>(all.size()));
    all.push(maker.mapped(*one->mapping, Room{0, one->mapping->q_len}, true));
  }
  add_others(rows.size());
  rows = std::move(all);
  lone.clear();
  mappings.clear();
}

MappedBatch PendingMapped::complete(const Reference& reference) {
  make_rows(reference);
  const std::size_t n = rows.size();
  if (reference.needs_load()) {
    std::vector<Reference::Window> windows;
    for (std::size_t i = 0; i < n; ++i)
      if (rows[i].target >= 0) windows.push_back({rows[i].target, rows[i].t_beg, rows[i].t_end});
    reference.load(windows);
  }
  MappedBatch batch;
  batch.pairs.bases = std::move(memory);
  RowCopier copier(*this, reference, batch);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n && rows[i + kAhead].target >= 0)
      reference.prefetch(rows[i + kAhead].target, rows[i + kAhead].t_beg, rows[i + kAhead].t_end);
    copier.copy(rows[i], i);
  }
  lasting.clear();
  return batch;
}

}  // namespace wfacli
