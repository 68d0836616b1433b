#include "io/simulate.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/reverse_complement.hpp"

namespace wfacli {
namespace {

constexpr std::int64_t kPatience = 32;  // bases by which a gap may be deferred to a repeat
constexpr int kDraws = 1000;            // attempts to find a window with only A C G T
constexpr int kWorstPhred = 2;
constexpr std::size_t kNameRoom = Pen::kDigits + 32;  // bytes for a name and its delimiters
constexpr char kNucleotides[] = "ACGT";

std::uint8_t folded(std::uint8_t base) { return base & 0xdf; }

// Encodes A C G T, in either case, as 0 to 3; -1 for other symbols.
int code_of(std::uint8_t base) {
  switch (folded(base)) {
    case 'A': return 0;
    case 'C': return 1;
    case 'G': return 2;
    case 'T': return 3;
    default: return -1;
  }
}

bool plain(std::string_view bases) {
  return std::all_of(bases.begin(), bases.end(), [](char c) { return code_of(static_cast<std::uint8_t>(c)) >= 0; });
}

}  // namespace

Simulator::Simulator(const ErrorModel& model, const SimulationOptions& options, const Reference* reference)
    : model_(model), options_(options), reference_(reference) {
  if (!reference) return;
  std::int64_t end = 0;
  const std::int64_t max_length = options.max_window();
  for (std::int32_t i = 0; i < reference->size(); ++i) {
    if (reference->length(i) < max_length) continue;
    usable_.push_back(i);
    ends_.push_back(end += reference->length(i) - max_length + 1);
  }
  if (usable_.empty())
    throw std::invalid_argument(options.mates() ? "no sequence is as long as the longest pair of reads, of " +
                                                      std::to_string(max_length) + " bases"
                                                : "no sequence is as long as the longest target");
}

void Simulator::make(std::int64_t first, std::int64_t count, SimulatedText& out) {
  for (std::int64_t number = first; number < first + count; ++number) {
    Random random(options_.seed, static_cast<std::uint64_t>(number));
    if (options_.mates()) {
      make_mates(random, number, out);
      continue;
    }
    const std::int64_t length = options_.min_length + random.uniform(options_.max_length - options_.min_length + 1);
    if (reference_)
      draw_window(random, length);
    else
      draw_target(random, length);
    read_target(random);
    write(number, out);
  }
}

void Simulator::draw_target(Random& random, std::int64_t length) {
  target_.resize(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; i += 32) {
    std::uint64_t word = random.word();
    for (std::int64_t k = i; k < std::min(i + 32, length); ++k, word >>= 2)
      target_[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(kNucleotides[word & 3]);
  }
}

void Simulator::draw_window(Random& random, std::int64_t length) {
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::int64_t place = random.uniform(ends_.back());
    const auto which = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
    sequence_ = usable_[which];
    start_ = place - (which ? ends_[which - 1] : 0);
    // Most windows of mates are much shorter than the longest one. Without a new draw, the ends of a sequence would
    // hardly be covered.
    if (options_.mates()) start_ = random.uniform(reference_->length(sequence_) - length + 1);
    target_.resize(static_cast<std::size_t>(length));
    reference_->copy(sequence_, start_, start_ + length, target_.data());
    if (!reference_->matches_index()) throw std::runtime_error("the reference is not as its index (.fai) says");
    if (plain({reinterpret_cast<const char*>(target_.data()), target_.size()})) return;
  }
  throw std::runtime_error("no window of A, C, G and T alone was found in " + std::to_string(kDraws) + " draws");
}

bool Simulator::repeats(std::int64_t at) const {
  const auto i = static_cast<std::size_t>(at);
  return at > 0 && folded(target_[i]) == folded(target_[i - 1]);
}

// Copies bases of the target to the query without errors.
void Simulator::copy(std::int64_t from, std::int64_t to) {
  if (from == to) return;
  const auto count = static_cast<std::size_t>(to - from);
  query_.append(target_.data() + from, count);
  if (options_.format == PairFormat::Fastq) std::memset(phred_.extend(count), '!' + phred_here_, count);
  cigar_.add(kEqual, static_cast<std::int32_t>(count));
}

void Simulator::add_mismatch(Random& random, std::uint8_t base) {
  query_.push(base);
  if (options_.format != PairFormat::Fastq) return;
  phred_.push(static_cast<std::uint8_t>('!' + kWorstPhred + random.uniform(phred_here_ / 2 + 1)));
}

// Opens a gap before position `at`; with `same`, inserted bases repeat the base at `at`. Returns the next position of
// the target.
std::int64_t Simulator::open_gap(Random& random, Op op, std::int64_t at, bool same) {
  std::int64_t length = 1;
  while (random.bernoulli(model_.extension)) ++length;
  if (op == kDeletion) {
    length = std::min(length, static_cast<std::int64_t>(target_.size()) - at);
    cigar_.add(kDeletion, static_cast<std::int32_t>(length));
    return at + length;
  }
  cigar_.add(kInsertion, static_cast<std::int32_t>(length));
  for (std::int64_t i = 0; i < length; ++i)
    add_mismatch(random, same ? target_[static_cast<std::size_t>(at)]
                              : static_cast<std::uint8_t>(kNucleotides[random.half() & 3]));
  return at;
}

// Adds an error at position `at`. Returns the next position of the target, at least at + 1.
std::int64_t Simulator::add_error(Random& random, Gap& waiting, std::int64_t at) {
  const std::uint8_t base = target_[static_cast<std::size_t>(at)];
  const std::uint32_t what = random.half();
  if (what < model_.mismatch) {
    const auto other = static_cast<std::size_t>(code_of(base) + 1 + random.uniform(3)) & 3;
    cigar_.add(kDifferent, 1);
    add_mismatch(random, static_cast<std::uint8_t>(kNucleotides[other]));
    return at + 1;
  }
  const Op op = what < model_.insertion ? kInsertion : kDeletion;
  const auto n = static_cast<std::int64_t>(target_.size());
  if (waiting.op == kMatch && at + 1 < n && random.bernoulli(model_.runs)) {
    waiting = {op, std::min(at + kPatience, n - 1)};
  } else if (const std::int64_t read = open_gap(random, op, at, false); read > at) {
    return read;
  }
  copy(at, at + 1);
  return at + 1;
}

// Simulates the query as a read of the target with errors, which the CIGAR records.
void Simulator::read_target(Random& random) {
  query_.clear();
  phred_.clear();
  cigar_.runs().clear();
  cigar_.begin();
  const auto kind = static_cast<std::size_t>(random.uniform(kReadKinds)) * kErrorPlaces;
  const auto n = static_cast<std::int64_t>(target_.size());
  Gap waiting;
  std::int64_t place_ends = 0;
  std::uint32_t probability = 0;
  for (std::int64_t i = 0, place = 0; i < n;) {
    if (i >= place_ends) {
      for (; i >= place_ends; ++place) place_ends = (place + 1) * n / kErrorPlaces;
      const auto here = kind + static_cast<std::size_t>(place) - 1;
      probability = model_.error_rate[here];
      phred_here_ = model_.phred[here];
      if (model_.uniform) place_ends = n;
    }
    // A deferred gap opens at the next repeat; errors are drawn for the bases before it.
    std::int64_t stop = place_ends;
    const bool waits = waiting.op != kMatch;
    if (waits)
      for (stop = i; stop < place_ends && !repeats(stop) && stop < waiting.until;) ++stop;
    const std::int64_t from = i;
    i += random.first(probability, stop - i);
    copy(from, i);
    const bool wrong = i < stop;
    if (wrong) {
      i = add_error(random, waiting, i);
    } else if (waits && i < place_ends) {
      i = open_gap(random, waiting.op, i, true);
      waiting.op = kMatch;
    }
  }
}

// Draws an insert size, approximately normal: the sum of twelve uniform numbers, in integer arithmetic.
std::int64_t Simulator::draw_insert(Random& random) const {
  constexpr int kDrawn = 12, kShift = 32;
  std::int64_t sum = -((std::int64_t{kDrawn} / 2) << kShift);
  for (int i = 0; i < kDrawn; ++i) sum += random.half();
  const auto apart = static_cast<std::int64_t>((static_cast<__int128>(sum) * options_.insert_deviation) >> kShift);
  return std::clamp<std::int64_t>(options_.insert + apart, 1, options_.max_window());
}

// Sets the target to one mate's part of fragment_, on that mate's strand.
void Simulator::take_mate(int mate, std::int64_t length) {
  target_.resize(static_cast<std::size_t>(length));
  const auto size = static_cast<std::int64_t>(fragment_.size());
  Mate& m = mates_[mate];
  m.reverse = reverse_ != (mate == 1);
  m.begin = m.reverse ? start_ + size - length : start_;
  m.end = m.begin + length;
  std::copy_n(fragment_.data() + (m.begin - start_), length, target_.data());
  if (m.reverse) reverse_complement(target_.data(), target_.size());
}

// Simulates both mates of a fragment, facing each other; the strand of the first mate is random.
void Simulator::make_mates(Random& random, std::int64_t number, SimulatedText& out) {
  std::int64_t lengths[2];
  for (std::int64_t& length : lengths)
    length = options_.min_length + random.uniform(options_.max_length - options_.min_length + 1);
  draw_window(random, std::max({draw_insert(random), lengths[0], lengths[1]}));
  fragment_.resize(target_.size());
  std::copy_n(target_.data(), target_.size(), fragment_.data());
  reverse_ = random.bernoulli(1u << 31);
  std::int64_t edits[2];
  for (const int mate : {0, 1}) {
    take_mate(mate, lengths[mate]);
    read_target(random);
    Mate& m = mates_[mate];
    m.bases.resize(query_.size());
    std::copy_n(query_.data(), query_.size(), m.bases.data());
    m.phred.resize(phred_.size());
    std::copy_n(phred_.data(), phred_.size(), m.phred.data());
    m.runs.assign(cigar_.runs().data(), cigar_.runs().data() + cigar_.runs().size());
    const SamAlignment w =
        to_sam_alignment({}, m.runs.data(), static_cast<std::int64_t>(m.runs.size()), false, cigar_);
    edits[mate] = w.edits();
    out.edits += w.edits();
    out.bases += static_cast<std::int64_t>(query_.size());
  }
  name_ = "sim" + std::to_string(number + 1) + ':';
  name_ += reference_->name(sequence_);
  name_ += ':' + std::to_string(start_ + 1) + '-' + std::to_string(start_ + static_cast<std::int64_t>(fragment_.size()));
  name_ += std::string(reverse_ ? ":-:" : ":+:") + std::to_string(edits[0]) + ':' + std::to_string(edits[1]);
  for (const int mate : {0, 1}) {
    write_mate(mate, out);
    std::vector<std::uint32_t>& runs = mates_[mate].runs;
    if (mates_[mate].reverse) std::reverse(runs.begin(), runs.end());
    if (options_.truth)
      write_mate_truth(mate, to_sam_alignment({}, runs.data(), static_cast<std::int64_t>(runs.size()), false, cigar_),
                       out.truth);
  }
}

void Simulator::write_mate(int mate, SimulatedText& out) const {
  const Mate& m = mates_[mate];
  Text& to = mate == 1 && !options_.interleaved ? out.target : out.query;
  Pen pen = to.room(kNameRoom + name_.size() + 2 * m.bases.size());
  const bool quality = options_.format == PairFormat::Fastq;
  pen.add(quality ? '@' : '>');
  pen.add(name_);
  pen.add('\n');
  pen.add(m.bases.data(), static_cast<std::int64_t>(m.bases.size()));
  if (quality) {
    pen.add(std::string_view("\n+\n"));
    pen.add(m.phred.data(), static_cast<std::int64_t>(m.phred.size()));
  }
  pen.add('\n');
  to.done(pen);
}

// Writes the true alignment of a mate to the reference as PAF; the names of mates end in /1 and /2.
void Simulator::write_mate_truth(int mate, const SamAlignment& w, Text& to) {
  const Mate& m = mates_[mate];
  const std::string_view target = reference_->name(sequence_);
  Pen pen = to.room(16 * Pen::kDigits + name_.size() + target.size() + static_cast<std::size_t>(w.operations) * (Pen::kDigits + 1));
  pen.add(name_);
  pen.add(std::string_view(mate == 0 ? "/1\t" : "/2\t"));
  const auto length = static_cast<std::int64_t>(m.bases.size());
  for (const std::int64_t value : {length, std::int64_t{0}, length}) pen.field(value);
  pen.add(std::string_view(m.reverse ? "-\t" : "+\t"));
  pen.add(target);
  pen.add('\t');
  for (const std::int64_t value : {reference_->length(sequence_), m.begin, m.end, w.matches, w.columns()}) pen.field(value);
  pen.add(std::string_view("255\tNM:i:"));
  pen.number(w.edits());
  pen.add(std::string_view("\tcg:Z:"));
  pen = add_cigar(pen, w, false);
  pen.add('\n');
  to.done(pen);
}

Pen Simulator::name(Pen pen, std::int64_t number) const {
  pen.add(options_.format == PairFormat::Seq ? "pair" : "sim");
  pen.number(number + 1);
  return pen;
}

// Writes the region of the target as samtools does: 1-based, both ends included.
Pen Simulator::place(Pen pen) const {
  pen.add(' ');
  pen.add(reference_->name(sequence_));
  pen.add(':');
  pen.number(start_ + 1);
  pen.add('-');
  pen.number(start_ + static_cast<std::int64_t>(target_.size()));
  return pen;
}

void Simulator::write(std::int64_t number, SimulatedText& out) {
  const auto text = [](const Buffer<std::uint8_t>& b) {
    return std::string_view(reinterpret_cast<const char*>(b.data()), b.size());
  };
  const std::string_view query = text(query_), target = text(target_);
  const bool two_files = options_.format == PairFormat::Fasta || options_.format == PairFormat::Fastq;
  out.bases += static_cast<std::int64_t>(query.size() + target.size());
  Pen pen = out.query.room(kNameRoom + 2 * query.size() + target.size());
  if (two_files) {
    pen.add(options_.format == PairFormat::Fasta ? '>' : '@');
    pen = name(pen, number);
    pen.add('\n');
    pen.add(query);
    if (options_.format == PairFormat::Fastq) {
      pen.add("\n+\n");
      pen.add(text(phred_));
    }
  } else if (options_.format == PairFormat::Seq) {
    pen.add('>');
    pen.add(query);
    pen.add("\n<");
    pen.add(target);
  } else {
    pen = name(pen, number);
    pen.add('\t');
    pen.add(query);
    pen.add('\t');
    pen.add(target);
  }
  pen.add('\n');
  out.query.done(pen);
  if (two_files) write_target(number, target, out.target);
  const SamAlignment w =
      to_sam_alignment({}, cigar_.runs().data(), static_cast<std::int64_t>(cigar_.runs().size()), false, cigar_);
  out.edits += w.edits();
  if (options_.truth) write_truth(number, w, out.truth);
}

void Simulator::write_target(std::int64_t number, std::string_view target, Text& to) const {
  Pen pen = to.room(kNameRoom + 2 * Pen::kDigits + (reference_ ? reference_->name(sequence_).size() : 0) + target.size());
  pen.add('>');
  pen = name(pen, number);
  if (reference_) pen = place(pen);
  pen.add('\n');
  pen.add(target);
  pen.add('\n');
  to.done(pen);
}

// Writes the true alignment as PAF. The .seq format has no names; readers number its pairs.
void Simulator::write_truth(std::int64_t number, const SamAlignment& w, Text& to) const {
  Pen pen = to.room(12 * Pen::kDigits + 2 * kNameRoom + static_cast<std::size_t>(w.operations) * (Pen::kDigits + 1));
  const auto side = [&](std::size_t size) {
    const auto length = static_cast<std::int64_t>(size);
    pen = name(pen, number);
    pen.add('\t');
    pen.number(length);
    pen.add("\t0\t");
    pen.number(length);
    pen.add('\t');
  };
  side(query_.size());
  pen.add("+\t");
  side(target_.size());
  pen.number(w.matches);
  pen.add('\t');
  pen.number(w.columns());
  pen.add("\t255\tNM:i:");
  pen.number(w.edits());
  pen.add("\tcg:Z:");
  pen = add_cigar(pen, w, false);
  pen.add('\n');
  to.done(pen);
}

}  // namespace wfacli
