#include "mapped/mapping_tags.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "mapped/tags.hpp"

namespace wfacli {
namespace {

constexpr std::array<std::string_view, 4> kCarried = {"cm", "s1", "s2", "rl"};

bool is_carried(std::string_view name) { return std::find(kCarried.begin(), kCarried.end(), name) != kCarried.end(); }

// Returns the size in bytes of a value; 0 for unknown types and types without a fixed size.
std::size_t size_of(char type) {
  switch (type) {
    case 'A': case 'c': case 'C': return 1;
    case 's': case 'S': return 2;
    case 'i': case 'I': case 'f': return 4;
    default: return 0;
  }
}

template <class T>
std::int64_t value_of(const char* at) {
  static_assert(std::endian::native == std::endian::little, "BAM's numbers are read as they are");
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::int64_t integer_of(char type, const char* at) {
  switch (type) {
    case 'c': return value_of<std::int8_t>(at);
    case 'C': return value_of<std::uint8_t>(at);
    case 's': return value_of<std::int16_t>(at);
    case 'S': return value_of<std::uint16_t>(at);
    case 'i': return value_of<std::int32_t>(at);
    default: return value_of<std::uint32_t>(at);
  }
}

// Returns the size in bytes of a BAM value; npos if it is truncated or its type is unknown.
std::size_t length_of(std::string_view rest, char type) {
  constexpr std::size_t kNone = std::string_view::npos, kArray = 5;
  if (type == 'Z' || type == 'H') {
    const std::size_t end = rest.find('\0');
    return end == kNone ? kNone : end + 1;
  }
  std::size_t bytes = size_of(type);
  if (type == 'B') {
    if (rest.size() < kArray) return kNone;
    bytes = kArray + size_of(rest[0]) * static_cast<std::size_t>(value_of<std::uint32_t>(rest.data() + 1));
    if (size_of(rest[0]) == 0) return kNone;
  }
  return bytes == 0 || bytes > rest.size() ? kNone : bytes;
}

void take(MappingTags& said, std::string_view name, char type, std::string_view value) {
  if (name == "tp" && type == 'A') {
    said.type = value[0];
  } else if (is_carried(name) && size_of(type) && type != 'A' && type != 'f') {
    said.fields.add(std::string(name) + ":i:" + std::to_string(integer_of(type, value.data())));
  } else if (name == "RG" && type == 'Z') {
    const std::string field = "RG:Z:" + std::string(value.substr(0, value.size() - 1));
    if (is_tag(field)) said.group = field;
  }
}

}  // namespace

MappingTags parse_sam_tags(std::string_view fields) {
  MappingTags said;
  while (!fields.empty()) {
    const std::size_t tab = fields.find('\t');
    const std::string_view field = fields.substr(0, tab);
    fields.remove_prefix(tab == fields.npos ? fields.size() : tab + 1);
    if (field.size() < 6 || field[2] != ':' || field[4] != ':') continue;
    const std::string_view name = field.substr(0, 2);
    if (field.substr(0, 5) == "tp:A:" && field.size() == 6)
      said.type = field[5];
    else if (field[3] == 'i' && is_carried(name) && is_tag(field))
      said.fields.add(field);
    else if (field.substr(0, 5) == "RG:Z:" && is_tag(field))
      said.group = field;
    else if (name == "cg")
      said.intron |= field.find('N', 5) != field.npos;
    else if (name == "cs")
      said.intron |= field.find('~', 5) != field.npos;
  }
  return said;
}

MappingTags parse_bam_tags(std::string_view fields) {
  MappingTags said;
  while (fields.size() > 3) {
    const std::string_view name = fields.substr(0, 2);
    const char type = fields[2];
    fields.remove_prefix(3);
    const std::size_t bytes = length_of(fields, type);
    if (bytes == fields.npos) break;
    take(said, name, type, fields.substr(0, bytes));
    fields.remove_prefix(bytes);
  }
  return said;
}

}  // namespace wfacli
