#include "reference.hpp"

namespace wfacli {

void Reference::add(const BatchView& batch) {
  for (std::int64_t i = 0; i < batch.n; ++i) {
    std::string name(reinterpret_cast<const char*>(batch.text) + batch.t_name[i],
                     static_cast<std::size_t>(batch.t_name_len[i]));
    if (name.empty() || !numbers_.emplace(name, size()).second) throw std::invalid_argument(name);
    records_.push_back({std::move(name), static_cast<std::int64_t>(letters_.size()), batch.t_len[i]});
    letters_.append(batch.bases + batch.t_start[i], static_cast<std::size_t>(batch.t_len[i]));
  }
}

std::int32_t Reference::find(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  return found == numbers_.end() ? -1 : found->second;
}

}  // namespace wfacli
