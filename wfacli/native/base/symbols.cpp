#include "base/symbols.hpp"

namespace wfacli {
namespace {

constexpr std::uint8_t fold(int c) { return static_cast<std::uint8_t>(c >= 'a' && c <= 'z' ? c - 32 : c); }

constexpr Codes& of(SymbolTables& tables, Ambiguous rule) { return tables.codes[static_cast<int>(rule)]; }

constexpr void set_ends(Codes& codes, std::uint8_t query, std::uint8_t target) {
  codes.query_end = query;
  codes.target_end = target;
}

constexpr SymbolTables make_tables() {
  constexpr char kCodes[] = "ACGTUMRWSYKVHDBN";
  constexpr std::uint8_t kMasks[] = {1, 2, 4, 8, 8, 3, 5, 9, 6, 10, 12, 7, 11, 13, 14, 15};
  constexpr char kOpposite[] = "TGCAAKYWSRMBDHVN";
  SymbolTables t{};
  for (int c = 0; c < 256; ++c) {
    const std::uint8_t u = fold(c);
    t.complement[c] = static_cast<std::uint8_t>(c);
    for (int i = 0; i < 16; ++i) {
      if (u != static_cast<std::uint8_t>(kCodes[i])) continue;
      t.iupac[c] = kMasks[i];
      t.complement[c] = static_cast<std::uint8_t>(kOpposite[i] + (c - u));
    }
    const std::uint8_t base = u == 'A' ? 1 : u == 'C' ? 2 : u == 'G' ? 3 : u == 'T' || u == 'U' ? 4 : 0;
    t.base[c] = base;
    t.symbol_class[c] = c <= 0x20 || c >= 0x7f ? kIllegal
                        : base && u != 'U'     ? std::uint8_t{0}
                        : t.iupac[c]           ? std::uint8_t{kNonAcgt}
                                               : std::uint8_t{kNonAcgt | kNonNucleotide};
    Codes& strict = of(t, Ambiguous::Mismatch);
    strict.query[c] = base ? base : 0xf0;  // two different codes, so that ambiguous symbols match nothing
    strict.target[c] = base ? base : 0xf1;
    Codes& wild = of(t, Ambiguous::Wildcard);
    wild.query[c] = wild.target[c] = t.iupac[c];
    Codes& charged = of(t, Ambiguous::Charged);
    charged.query[c] = base ? t.iupac[c] : 0x10;  // the two bits of kAmbiguousCodes, of which no two codes share one
    charged.target[c] = base ? t.iupac[c] : 0x20;
    Codes& literal = of(t, Ambiguous::Literal);
    literal.query[c] = literal.target[c] = u;
  }
  set_ends(of(t, Ambiguous::Mismatch), 0xfe, 0xff);
  set_ends(of(t, Ambiguous::Wildcard), 0, 0);
  set_ends(of(t, Ambiguous::Charged), 0, 0);
  set_ends(of(t, Ambiguous::Literal), 1, 2);  // control characters are invalid in sequences
  return t;
}

}  // namespace

constinit const SymbolTables kSymbols = make_tables();

}  // namespace wfacli
