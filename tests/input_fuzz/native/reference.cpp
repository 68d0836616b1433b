// Sequences read on demand from an indexed file. The input is the index (.fai), a byte 0xff, and the file.
// Needs: io/read_ahead base/thread_pool base/buffer io/builder base/symbols io/records io/reference io/file_blocks
#include "io/reference.hpp"

#include <charconv>

#include "readers.hpp"

using namespace fuzz;

namespace {

struct Place {
  std::int64_t length, offset, symbols, bytes;
};

// Parses a line of an index; returns false for those that wfacli/io/read/faidx.py rejects.
bool place_of(std::string_view line, std::string_view& name, Place& place) {
  const std::size_t tab = line.find('\t');
  if (tab == line.npos) return false;
  name = line.substr(0, tab);
  line.remove_prefix(tab + 1);
  for (std::int64_t* value : {&place.length, &place.offset, &place.symbols, &place.bytes}) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), *value);
    if (error != std::errc() || *value < 0 || *value >= std::int64_t{1} << 62) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (!line.empty()) line.remove_prefix(1);
  }
  const std::int64_t more = place.bytes - place.symbols;
  return place.symbols > 0 && (more == 1 || more == 2);
}

// Returns the bases of a window, read one by one; empty if the file does not match the index.
std::string symbols_of(const Place& place, std::int64_t begin, std::int64_t end, std::string_view file) {
  std::string symbols;
  for (std::int64_t symbol = begin; symbol < end; ++symbol) {
    const __int128 line = symbol / place.symbols, column = symbol % place.symbols;
    const __int128 at = place.offset + line * place.bytes + column;
    if (at >= static_cast<__int128>(file.size())) return {};
    const char c = file[static_cast<std::size_t>(at)];
    if (static_cast<std::uint8_t>(c) <= ' ' || c == '>') return {};
    symbols += c;
    if (column + 1 < place.symbols || symbol + 1 == end) continue;
    const std::string_view line_end = place.bytes - place.symbols == 1 ? "\n" : "\r\n";
    if (file.substr(static_cast<std::size_t>(at) + 1, line_end.size()) != line_end) return {};
  }
  return symbols;
}

void check_windows(const wfacli::Reference& reference, std::int32_t i, const Place& place, std::string_view file,
                   Random& random) {
  for (int window = 0; window < 4; ++window) {
    const auto length = static_cast<std::size_t>(place.length);
    const auto count = static_cast<std::int64_t>(1 + random.below(std::min<std::size_t>(length, 1000)));
    std::int64_t begin = window == 0 ? 0 : static_cast<std::int64_t>(random.below(length));
    begin = std::min(begin, place.length - count);
    std::vector<std::uint8_t> copy(static_cast<std::size_t>(count));
    reference.copy(i, begin, begin + count, copy.data());
    const std::string symbols = symbols_of(place, begin, begin + count, file);
    const std::string_view copied = view(copy.data(), copy.size());
    if (symbols.empty()) {
      HOLDS(!reference.matches_index());
      HOLDS(copied.find_first_not_of('N') == copied.npos);
    } else {
      HOLDS(copied == symbols);
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const auto parts = parts_of(input.text(), 2);
  const File file(parts[1]);
  wfacli::Reference reference;
  reference.use_file(file.descriptor());
  std::vector<Place> places;
  for (std::string_view index = parts[0]; !index.empty();) {
    const std::size_t end = std::min(index.find('\n'), index.size());
    std::string_view name;
    Place place;
    const bool there = place_of(index.substr(0, end), name, place);
    index.remove_prefix(std::min(end + 1, index.size()));
    if (!there) continue;
    const bool taken = name.empty() || reference.find(name) >= 0;
    try {
      reference.add_indexed(std::string(name), place.length, place.offset, place.symbols, place.bytes);
      HOLDS(!taken);
      places.push_back(place);
    } catch (const std::invalid_argument&) {
      const __int128 end = (static_cast<__int128>(place.length / place.symbols) + 1) * place.bytes + place.offset;
      HOLDS(taken || end > INT64_MAX);
    }
  }
  HOLDS(static_cast<std::size_t>(reference.size()) == places.size());
  Random random(input.seed());
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 50); ++i)
    if (places[i].length > 0) check_windows(reference, static_cast<std::int32_t>(i), places[i], parts[1], random);
  return 0;
}
