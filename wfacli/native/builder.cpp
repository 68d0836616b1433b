#include "builder.hpp"

#include <stdexcept>

#include "letters.hpp"

namespace wfacli {
namespace {

constexpr std::size_t kAlign = 16;
constexpr std::size_t kOverread = 64;  // so that a wide load at the last letter stays inside

using Letters16 = std::uint8_t __attribute__((vector_size(16)));

// Whether there is nothing but A C G T in either case; 16 letters at a time, the last 16 perhaps twice.
bool only_acgt(const std::uint8_t* p, std::size_t n) {
  if (n < 16) {
    for (std::size_t i = 0; i < n; ++i)
      if (kLetters.letter_class[p[i]]) return false;
    return true;
  }
  const auto others = [](const std::uint8_t* at) {
    Letters16 c;
    std::memcpy(&c, at, sizeof c);
    c |= 0x20;
    return (c != 'a') & (c != 'c') & (c != 'g') & (c != 't');
  };
  auto found = others(p + n - 16);
  for (std::size_t i = 0; i + 16 <= n; i += 16) found |= others(p + i);
  std::uint64_t halves[2];
  std::memcpy(halves, &found, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

std::uint8_t classes_of(std::string_view letters) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(letters.data());
  if (only_acgt(p, letters.size())) return 0;
  std::uint8_t classes = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) classes |= kLetters.letter_class[p[i]];
  return classes;
}

std::int64_t add_text(Buffer<std::uint8_t>& text, std::string_view value) {
  const std::int64_t at = static_cast<std::int64_t>(text.size());
  text.append(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
  return at;
}

}  // namespace

void LetterBuffer::lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender) {
  own_ = Buffer<std::uint8_t>();
  lent_ = memory;
  room_ = bytes;
  used_ = 0;
  lender_ = std::move(lender);
}

void LetterBuffer::leave() {
  own_.reserve(room_ + room_ / 4);
  own_.append(lent_, used_);
  lender_.reset();
}

void BatchBuilder::lend(std::uint8_t* memory, std::size_t bytes, std::shared_ptr<void> lender) {
  if (open_ || !c_.q_len.empty()) throw std::logic_error("memory is lent to a batch before it begins");
  c_.bases.lend(memory, bytes, std::move(lender));
}

void BatchBuilder::begin_record() {
  if (open_) return;
  open_ = true;
  start_ = static_cast<std::int64_t>(c_.bases.size());
  len_ = 0;
  quality_ = -1;
  classes_ = 0;
}

void BatchBuilder::reserve(std::int64_t pairs, std::int64_t letters) {
  const auto n = static_cast<std::size_t>(pairs);
  c_.bases.reserve(static_cast<std::size_t>(letters) + 2 * n * kAlign + kOverread);
  for (auto* column : {&c_.q_start, &c_.t_start, &c_.q_name, &c_.t_name, &c_.qual}) column->reserve(n);
  for (auto* column : {&c_.q_len, &c_.t_len, &c_.q_name_len, &c_.t_name_len}) column->reserve(n);
}

void BatchBuilder::name(std::string_view name) {
  begin_record();
  name_ = add_text(c_.text, name);
  name_len_ = name.size();
}

bool BatchBuilder::letters(std::string_view letters, std::uint8_t& bad) {
  if (keep_letters_) {
    const std::uint8_t classes = classes_of(letters);
    if (classes & kIllegal) {
      for (const char c : letters) {
        bad = static_cast<std::uint8_t>(c);
        if (kLetters.letter_class[bad] & kIllegal) return false;
      }
    }
    classes_ |= classes;
    c_.bases.append(reinterpret_cast<const std::uint8_t*>(letters.data()), letters.size());
  }
  len_ += static_cast<std::int64_t>(letters.size());
  return true;
}

void BatchBuilder::quality(std::string_view quality) {
  if (keep_letters_) quality_ = add_text(c_.text, quality);
}

std::int64_t BatchBuilder::extra(std::string_view text) { return add_text(c_.text, text); }

void BatchBuilder::end_sequence(Buffer<std::int64_t>& start, Buffer<std::int32_t>& len) {
  const std::size_t padded = (c_.bases.size() + kAlign - 1) / kAlign * kAlign;
  const std::size_t gap = padded - c_.bases.size();
  if (gap) std::memset(c_.bases.extend(gap), 0, gap);
  start.push(start_);
  len.push(static_cast<std::int32_t>(len_));
  weight_ += len_;
  pair_classes_ |= classes_;
  open_ = false;
}

void BatchBuilder::end_query() {
  end_sequence(c_.q_start, c_.q_len);
  c_.q_name.push(name_);
  c_.q_name_len.push(static_cast<std::int32_t>(name_len_));
  c_.qual.push(quality_);
}

void BatchBuilder::end_target() {
  end_sequence(c_.t_start, c_.t_len);
  c_.t_name.push(name_);
  c_.t_name_len.push(static_cast<std::int32_t>(name_len_));
  c_.flags.push(pair_classes_);
  pair_classes_ = 0;
}

BatchColumns BatchBuilder::take() {
  std::memset(c_.bases.extend(kOverread), 0, kOverread);
  BatchColumns taken = std::move(c_);
  const std::size_t n = taken.t_len.size();
  if (taken.q_len.size() < n) throw std::logic_error("a target without its query in a batch");
  taken.q_start.resize(n);
  taken.q_len.resize(n);
  taken.q_name.resize(n);
  taken.q_name_len.resize(n);
  taken.qual.resize(n);
  c_ = BatchColumns();
  // The next batch will be much like this one; a little more room than that saves growing to half as much again.
  if (!taken.bases.lender()) c_.bases.reserve(taken.bases.size() + taken.bases.size() / 16);
  c_.text.reserve(taken.text.size() + taken.text.size() / 16);
  weight_ = 0;
  open_ = false;
  return taken;
}

}  // namespace wfacli
