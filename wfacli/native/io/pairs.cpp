#include "io/pairs.hpp"

#include <algorithm>

namespace wfacli {
namespace {

// Splits a line at tabs, stores the first `max_columns` columns and returns the total number of columns.
int split(std::string_view line, std::string_view* columns, int max_columns) {
  int count = 0;
  for (;;) {
    const std::size_t tab = line.find('\t');
    if (count < max_columns) columns[count] = line.substr(0, tab);
    ++count;
    if (tab == line.npos) return count;
    line.remove_prefix(tab + 1);
  }
}

bool equals_folded(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                    [](char x, char y) { return (x | 0x20) == y; });
}

bool is_column_titles(const std::string_view* columns, int count) {
  return equals_folded(columns[count - 2], "query") && equals_folded(columns[count - 1], "target");
}

}  // namespace

PairReader::PairReader(Layout layout, RecordParts::Keep keep)
    : StreamReader(keep.bases),
      layout_(layout),
      first_({keep.bases, keep.quality && layout == Layout::TwoFiles}),
      second_({keep.bases, false}) {}

Lines& PairReader::lines(int stream) {
  if (!records(stream)) return lines_;
  return stream == 0 ? first_.lines() : second_.lines();
}

const RecordStream* PairReader::records(int stream) const {
  if (layout_ != Layout::TwoFiles && layout_ != Layout::Targets) return nullptr;
  return stream == 0 ? &first_ : &second_;
}

void PairReader::track() {
  first_.track();
  second_.track();
}

std::vector<StreamPlace> PairReader::places() const {
  if (!records(0)) return {{lines_.offset(), lines_.number(), done_}};
  if (layout_ == Layout::Targets) return {first_.place()};
  return {first_.place(), second_.place()};
}

Next PairReader::fill_from_lines(std::int64_t weight) {
  if (layout_ == Layout::TwoFiles) return add_pairs(weight);
  if (layout_ == Layout::Targets) return add_targets(weight);
  // A query without its target stays in this batch, whatever the weight.
  while (have_query_ || builder_.weight() < weight)
    if (const Next next = step(); next != Next::Full) return next;
  return Next::Full;
}

// Reads one pair; returns Full on success.
Next PairReader::step() { return layout_ == Layout::Seq ? step_seq() : step_tsv(); }

Next PairReader::add_pairs(std::int64_t weight) {
  if (rest_ >= 0) return count_rest();
  while (builder_.weight() < weight) {
    const ParseResult query = first_.more();
    if (query == ParseResult::NeedInput) return Next::NeedQuery;
    ParseResult target = ParseResult::End;
    if (query == ParseResult::Item) try {
        target = second_.more();
      } catch (InputFault& fault) {
        fault.stream = 1;
        throw;
      }
    if (target == ParseResult::NeedInput) return Next::NeedTarget;
    if (target == ParseResult::End) {
      rest_ = query == ParseResult::End;
      return count_rest();
    }
    const std::size_t max_pairs = std::min(first_.left(), second_.left());
    const std::size_t added =
        builder_.add_pairs(first_.shared(), first_.at(), second_.shared(), second_.at(), max_pairs, weight);
    first_.taken(added);
    second_.taken(added);
    done_ += static_cast<std::int64_t>(added);
  }
  return Next::Full;
}

// Counts the records left in one stream after the other has ended; throws InputFault if there are any.
Next PairReader::count_rest() {
  RecordStream& longer = rest_ == 0 ? first_ : second_;
  for (;;) {
    ParseResult got;
    try {
      got = longer.more();
    } catch (InputFault& fault) {
      fault.stream = rest_;
      throw;
    }
    if (got == ParseResult::NeedInput) return rest_ == 0 ? Next::NeedQuery : Next::NeedTarget;
    if (got == ParseResult::End) break;
    extra_ += static_cast<std::int64_t>(longer.left());
    longer.taken(longer.left());
  }
  if (extra_ == 0) return Next::End;
  const std::int64_t queries = done_ + (rest_ == 0 ? extra_ : 0), targets = done_ + (rest_ == 1 ? extra_ : 0);
  throw InputFault("QUERY holds " + std::to_string(queries) + (queries == 1 ? " record" : " records") + ", TARGET " +
                       std::to_string(targets),
                   0, {});
}

Next PairReader::add_targets(std::int64_t weight) {
  while (builder_.weight() < weight) {
    const ParseResult got = first_.more();
    if (got != ParseResult::Item) return got == ParseResult::End ? Next::End : Next::NeedQuery;
    const std::size_t added = builder_.add_pairs(nullptr, 0, first_.shared(), first_.at(), first_.left(), weight);
    first_.taken(added);
    done_ += static_cast<std::int64_t>(added);
  }
  return Next::Full;
}

void PairReader::add_sequence(std::string_view sequence, std::int64_t line) {
  add_checked_sequence(builder_, sequence, line);
}

Next PairReader::step_seq() {
  std::string_view line;
  for (;;) {
    if (const int c = lines_.peek(); c != '<' && c != '>' && lines_.partial_line().size() > max_line_bytes)
      throw_too_long("a line without a sequence", lines_.number() + 1);
    const ParseResult got = lines_.take(line);
    const std::int64_t number = lines_.number();
    if (got == ParseResult::NeedInput) return Next::NeedQuery;
    if (got == ParseResult::End) {
      if (have_query_) fail("the file ends after a query; its '<target' line is missing", number);
      return Next::End;
    }
    if (line.empty()) continue;
    if (line[0] != '>' && line[0] != '<')
      fail("expected a line that starts with '>' (query) or '<' (target)", number);
    const bool is_query = line[0] == '>';
    if (is_query == have_query_)
      fail(is_query ? "two queries in a row: a .seq file alternates '>query' and '<target' lines (two FASTA "
                      "files are given as QUERY TARGET)"
                    : "a target without a query: a .seq file alternates '>query' and '<target' lines",
           number);
    builder_.name(ordinal_name());
    add_sequence(line.substr(1), number);
    if (is_query) {
      builder_.end_query();
      have_query_ = true;
      continue;
    }
    builder_.end_target();
    have_query_ = false;
    ++done_;
    return Next::Full;
  }
}

Next PairReader::step_tsv() {
  std::string_view line, columns[3];
  for (;;) {
    if (lines_.peek() == '#' && lines_.partial_line().size() > max_line_bytes)
      throw_too_long("a comment", lines_.number() + 1);
    const ParseResult got = lines_.take_row(line);
    const std::int64_t number = lines_.number();
    if (got == ParseResult::NeedInput) return Next::NeedQuery;
    if (got == ParseResult::End) return Next::End;
    if (line.empty() || line[0] == '#') continue;
    const int count = split(line, columns, 3);
    if (count < 2 || count > 3)
      fail("expected 2 or 3 columns with tabs between them (query, target; or name, query, target), found " +
               std::to_string(count),
           number);
    if (columns_ == 0) {
      columns_ = count;
      if (is_column_titles(columns, count)) continue;
    }
    if (count != columns_)
      fail("found " + std::to_string(count) + " columns where earlier lines have " + std::to_string(columns_), number);
    if (count == 3 && columns[0].size() > max_line_bytes) throw_too_long("a name", number);
    const std::string name = count == 3 && !columns[0].empty() ? std::string(name_of(columns[0], number)) : ordinal_name();
    builder_.name(name);
    add_sequence(columns[count - 2], number);
    builder_.end_query();
    builder_.name(name);
    add_sequence(columns[count - 1], number);
    builder_.end_target();
    ++done_;
    return Next::Full;
  }
}

}  // namespace wfacli
