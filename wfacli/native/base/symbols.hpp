// Symbol tables: classes of bytes, IUPAC codes, complements, codes for comparison, and the equality rule of SAM.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace wfacli {

// Class of a byte that is invalid in a sequence (whitespace, control characters, non-ASCII).
constexpr std::uint8_t kIllegal = 0x80;

// Bits of the codes of ambiguous symbols that have a cost of their own.
constexpr std::uint8_t kAmbiguousCodes = 0x30;

// Codes of symbols for comparison: two symbols match if their codes are equal or, where matches_by_bits(), share a bit.
struct Codes {
  std::uint8_t query[256], target[256];
  std::uint8_t query_end, target_end;  // sentinels that match neither a symbol nor each other
};

struct SymbolTables {
  std::uint8_t symbol_class[256];  // 0 for A C G T in either case; otherwise bits of Flag, or kIllegal
  std::uint8_t iupac[256];         // bases that a nucleotide code represents: A=1 C=2 G=4 T=8; 0 for other symbols
  std::uint8_t complement[256];    // of nucleotide codes, case preserved; other symbols unchanged
  std::uint8_t base[256];          // A=1 C=2 G=3 T=U=4, otherwise 0
  Codes codes[4];                  // indexed by Ambiguous
};
extern const SymbolTables kSymbols;

inline const Codes& codes_of(Ambiguous rule) { return kSymbols.codes[static_cast<int>(rule)]; }

// Equality for '=' and 'X' in SAM: only A, C, G and T (U counts as T) equal themselves, in either case.
inline bool equal_by_sam(std::uint8_t a, std::uint8_t b) {
  return kSymbols.base[a] && kSymbols.base[a] == kSymbols.base[b];
}

// Returns the operation of a CIGAR for two aligned codes. An ambiguous symbol with a cost of its own is an M, which
// resolve_matches (format/sam_alignment.cpp) makes an X.
WFACLI_INLINE Op operation_of(std::uint8_t a, std::uint8_t b, bool by_bits) {
  if (!by_bits) return a == b ? kEqual : kDifferent;
  return (a & b) != 0 ? kEqual : (a | b) & kAmbiguousCodes ? kMatch : kDifferent;
}

// The same for two symbols under `rule`.
inline Op operation_of(Ambiguous rule, std::uint8_t query, std::uint8_t target) {
  const Codes& codes = codes_of(rule);
  return operation_of(codes.query[query], codes.target[target], matches_by_bits(rule));
}

}  // namespace wfacli
