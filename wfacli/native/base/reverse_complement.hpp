// In-place reverse and reverse complement.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wfacli {

void reverse(std::uint8_t* text, std::size_t n);
// Symbols that are no nucleotide code are reversed but not changed (kSymbols.complement).
void reverse_complement(std::uint8_t* sequence, std::size_t n);

}  // namespace wfacli
