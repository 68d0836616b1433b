// The sequences that reads are mapped to, in memory: a byte a letter.
#pragma once

#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "types.hpp"

namespace wfacli {

class Reference {
 public:
  // Adds the targets of a batch. Throws std::invalid_argument with the name of one that is there already, or "" for
  // one without a name.
  void add(const BatchView& batch);
  // The number of a sequence, or -1.
  std::int32_t find(std::string_view name) const;

  std::int32_t size() const { return static_cast<std::int32_t>(records_.size()); }
  const std::string& name(std::int32_t i) const { return at(i).name; }
  std::int64_t length(std::int32_t i) const { return at(i).length; }
  std::string_view letters(std::int32_t i, std::int64_t begin, std::int64_t end) const {
    return {reinterpret_cast<const char*>(letters_.data()) + at(i).start + begin, static_cast<std::size_t>(end - begin)};
  }

 private:
  struct Record {
    std::string name;
    std::int64_t start, length;
  };
  const Record& at(std::int32_t i) const { return records_[static_cast<std::size_t>(i)]; }

  Buffer<std::uint8_t> letters_;
  std::vector<Record> records_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace wfacli
