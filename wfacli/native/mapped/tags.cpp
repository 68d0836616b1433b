#include "mapped/tags.hpp"

#include <algorithm>

namespace wfacli {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_integer(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && text.size() < 11 && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_real(std::string_view text) {
  // Lenient: accepts the characters of decimals, exponents, inf and nan in any order.
  constexpr std::string_view kSigns = "+-.eEinfatyNIF";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || kSigns.find(c) != kSigns.npos;
  });
}

bool is_array(std::string_view text) {
  constexpr std::string_view kTypes = "cCsSiIf";
  if (text.empty() || kTypes.find(text[0]) == kTypes.npos) return false;
  const bool real = text[0] == 'f';
  for (text.remove_prefix(1); !text.empty();) {
    if (text[0] != ',') return false;
    text.remove_prefix(1);
    const std::string_view number = text.substr(0, text.find(','));
    if (!(real ? is_real(number) : is_integer(number))) return false;
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
    case 'i': return is_integer(value);
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
