// The other strand, in place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wfacli {

// Reverses text.
void reverse(std::uint8_t* text, std::size_t n);
// Reverses letters and puts the complement in each one's place (kLetters.complement).
void reverse_complement(std::uint8_t* letters, std::size_t n);

}  // namespace wfacli
