// What letters mean: classes, codes for comparison, and SAM's rule for equality.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

// Class of a byte that cannot stand in a sequence (blanks, control characters, non-ASCII).
constexpr std::uint8_t kIllegal = 0x80;

// Codes under which two letters match exactly when the codes are equal, or, for wildcards, share a bit.
struct Codes {
  std::uint8_t query[256], target[256];
  std::uint8_t query_end, target_end;  // sentinels that match no letter, nor each other
};

struct LetterTables {
  std::uint8_t letter_class[256];  // 0 for A C G T in either case, else bits of Flag, or kIllegal
  std::uint8_t iupac[256];         // nucleotides a code stands for: A=1 C=2 G=4 T=8; 0 for other letters
  std::uint8_t complement[256];    // of nucleotide codes, in their case; other letters as they are
  std::uint8_t base[256];          // A=1 C=2 G=3 T=U=4, else 0
  Codes codes[3];                  // by Ambiguous
};
extern const LetterTables kLetters;

inline const Codes& codes_of(Ambiguous rule) { return kLetters.codes[static_cast<int>(rule)]; }

// SAM's rule: only A, C, G, T (and U, which reads as T) equal themselves, in either case.
inline bool equal_by_sam(std::uint8_t a, std::uint8_t b) {
  return kLetters.base[a] && kLetters.base[a] == kLetters.base[b];
}

// Whether two letters match for scoring under `rule`.
inline bool letters_match(Ambiguous rule, std::uint8_t query, std::uint8_t target) {
  const std::uint8_t a = codes_of(rule).query[query], b = codes_of(rule).target[target];
  return rule == Ambiguous::Wildcard ? (a & b) != 0 : a == b;
}

}  // namespace wfacli
