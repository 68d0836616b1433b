#include "mapped/tags.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace wfacli {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Range {
  std::int64_t min, max;
};

// Values that a BAM integer of this type holds.
constexpr Range range_of(char type) {
  switch (type) {
    case 'c': return {INT8_MIN, INT8_MAX};
    case 'C': return {0, UINT8_MAX};
    case 's': return {INT16_MIN, INT16_MAX};
    case 'S': return {0, UINT16_MAX};
    case 'i': return {INT32_MIN, INT32_MAX};
    default: return {0, UINT32_MAX};
  }
}

constexpr Range kAnyInteger = {INT32_MIN, UINT32_MAX};

bool is_integer(std::string_view text, Range range) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (text.empty() || text[0] == '-') return false;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= range.min && value <= range.max;
}

// A decimal number, as the SAM specification has it (section 1.5), infinite or not a number.
bool is_real(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text == "inf" || text == "nan" || text == "INF" || text == "NAN") return true;
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  std::size_t count = digits();
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    count += digits();
  }
  if (count == 0) return false;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

bool is_array(std::string_view text) {
  constexpr std::string_view kTypes = "cCsSiIf";
  if (text.empty() || kTypes.find(text[0]) == kTypes.npos) return false;
  const char type = text[0];
  for (text.remove_prefix(1); !text.empty();) {
    if (text[0] != ',') return false;
    text.remove_prefix(1);
    const std::string_view number = text.substr(0, text.find(','));
    if (!(type == 'f' ? is_real(number) : is_integer(number, range_of(type)))) return false;
    text.remove_prefix(number.size());
  }
  return true;
}

bool is_hexadecimal(std::string_view text) {
  return text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'A' && c <= 'F');
  });
}

}  // namespace

bool is_tag(std::string_view field) {
  if (field.size() < 5 || !is_letter(field[0]) || !(is_letter(field[1]) || is_digit(field[1])) || field[2] != ':' ||
      field[4] != ':')
    return false;
  const std::string_view value = field.substr(5);
  if (!std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; })) return false;
  switch (field[3]) {
    case 'A': return value.size() == 1 && value[0] > ' ';
    case 'i': return is_integer(value, kAnyInteger);
    case 'f': return is_real(value);
    case 'Z': return true;
    case 'H': return is_hexadecimal(value);
    case 'B': return is_array(value);
    default: return false;
  }
}

void add_tags(std::string_view comment, TagSelection selection, std::string& out) {
  constexpr std::string_view kOwn[] = {"NM", "AS", "MD", "cs", "SA", "xh", "ms", "nn", "de", "tp",
                                       "cm", "s1", "s2", "rl", "MC", "MQ", "dv", "cg", "XS"};
  while (!comment.empty()) {
    const std::size_t tab = comment.find('\t');
    const std::string_view field = comment.substr(0, tab);
    comment.remove_prefix(tab == comment.npos ? comment.size() : tab + 1);
    if (!is_tag(field)) continue;
    const std::string_view name = field.substr(0, 2);
    const bool group = name == "RG";
    if (selection == TagSelection::NoGroup ? group : selection == TagSelection::GroupOnly && !group) continue;
    if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn)) continue;
    if (!out.empty()) out += '\t';
    out += field;
  }
}

bool has_group(std::string_view fields) {
  return fields.substr(0, 5) == "RG:Z:" || fields.find("\tRG:Z:") != fields.npos;
}

}  // namespace wfacli
