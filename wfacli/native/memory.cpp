#include "memory.hpp"

#include <charconv>

#include "estimate.hpp"

namespace wfacli {

void MemoryPairs::add(std::string_view letters) {
  char name[24] = "pair";
  const char* end = std::to_chars(name + 4, name + sizeof name, out_.pairs() + 1).ptr;
  out_.name({name, static_cast<std::size_t>(end - name)});
  add_letters(out_, letters, 0);
}

void MemoryPairs::query(std::string_view letters) {
  add(letters);
  out_.end_query();
}

void MemoryPairs::target(std::string_view letters) {
  add(letters);
  out_.end_target();
}

OnePair::OnePair(BatchColumns columns, bool estimated) : columns_(std::move(columns)) {
  est_edits_ = estimated ? estimate_edits(view().pair(0), kUsualEffort) : -1;
}

BatchView OnePair::view() const {
  BatchView v{};
  v.n = 1;
  v.bases = columns_.bases.data();
  v.q_start = columns_.q_start.data();
  v.t_start = columns_.t_start.data();
  v.q_len = columns_.q_len.data();
  v.t_len = columns_.t_len.data();
  v.flags = columns_.flags.data();
  v.est_edits = &est_edits_;
  return v;
}

void OnePair::align(Aligner& aligner, const AlignOptions& options, const CancelFlag& cancelled,
                    AlignedRows& out) const {
  const std::int32_t row = 0;
  aligner.align(view(), &row, 1, options, cancelled, out);
}

}  // namespace wfacli
