// Symbol tables: classes of bytes, IUPAC codes, complements, codes for comparison, and the equality rule of SAM.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

// Class of a byte that is invalid in a sequence (whitespace, control characters, non-ASCII).
constexpr std::uint8_t kIllegal = 0x80;

// Codes of symbols for comparison: two symbols match if their codes are equal or, under Wildcard, share a bit.
struct Codes {
  std::uint8_t query[256], target[256];
  std::uint8_t query_end, target_end;  // sentinels that match neither a symbol nor each other
};

struct SymbolTables {
  std::uint8_t symbol_class[256];  // 0 for A C G T in either case; otherwise bits of Flag, or kIllegal
  std::uint8_t iupac[256];         // bases that a nucleotide code represents: A=1 C=2 G=4 T=8; 0 for other symbols
  std::uint8_t complement[256];    // of nucleotide codes, case preserved; other symbols unchanged
  std::uint8_t base[256];          // A=1 C=2 G=3 T=U=4, otherwise 0
  Codes codes[3];                  // indexed by Ambiguous
};
extern const SymbolTables kSymbols;

inline const Codes& codes_of(Ambiguous rule) { return kSymbols.codes[static_cast<int>(rule)]; }

// Equality for '=' and 'X' in SAM: only A, C, G and T (U counts as T) equal themselves, in either case.
inline bool equal_by_sam(std::uint8_t a, std::uint8_t b) {
  return kSymbols.base[a] && kSymbols.base[a] == kSymbols.base[b];
}

// True if two symbols score as a match under `rule`.
inline bool symbols_match(Ambiguous rule, std::uint8_t query, std::uint8_t target) {
  const std::uint8_t a = codes_of(rule).query[query], b = codes_of(rule).target[target];
  return rule == Ambiguous::Wildcard ? (a & b) != 0 : a == b;
}

}  // namespace wfacli
