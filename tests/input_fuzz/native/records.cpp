// Records of FASTA and FASTQ.
// Needs: io/read_ahead base/thread_pool base/buffer io/builder base/symbols io/record_stream io/records
//
// The target also reads the input ahead as a file, in blocks that guess record boundaries, and parses the records again
// after writing them. All must give the same records.
#include "io/record_stream.hpp"

#include "readers.hpp"

using namespace fuzz;
using wfacli::RecordParts;
using wfacli::RecordLocation;
using wfacli::RecordStream;

namespace {

struct Parsed {
  Answer answer;
  std::string again;  // the records as a file
  std::size_t records = 0;
  bool fault = false;
};

void add_record(const wfacli::RecordColumns& columns, const RecordLocation& r, RecordParts::Keep keep, Parsed& parsed) {
  HOLDS(r.len >= 0 && r.name_len >= 0 && r.header_len >= r.name_len);
  const std::string_view name = view(columns.text_at(r.name), static_cast<std::size_t>(r.name_len));
  const auto length = static_cast<std::size_t>(r.len);
  const std::string_view symbols = keep.bases ? view(columns.bases_at(r.sequence), length) : std::string_view();
  const bool has_quality = r.quality != RecordLocation::kNone;
  const std::string_view quality = has_quality ? view(columns.text_at(r.quality), length) : std::string_view();
  for (const char c : name) HOLDS(static_cast<std::uint8_t>(c) > ' ');
  HOLDS(all_visible(symbols) && all_visible(quality) && (keep.quality || !has_quality));
  HOLDS(!keep.bases || r.flags == classes_one_by_one(symbols));
  parsed.answer.add(name).add(symbols).number(r.len).number(has_quality).add(quality);
  std::string_view header = name;
  if (keep.comments) {
    header = view(columns.text_at(r.name), static_cast<std::size_t>(r.header_len));
    parsed.answer.add(header);
  }
  ++parsed.records;
  parsed.again.append(has_quality ? "@" : ">").append(header).append("\n").append(symbols).append("\n");
  if (has_quality) parsed.again.append("+\n").append(quality).append("\n");
}

// Parses all records; `give` provides input.
template <class Give>
Parsed parse(RecordStream& stream, RecordParts::Keep keep, Random random, const Give& give) {
  Parsed parsed;
  try {
    for (;;) {
      const wfacli::ParseResult got = stream.more();
      if (got == wfacli::ParseResult::End) break;
      if (got == wfacli::ParseResult::NeedInput) {
        give();
        continue;
      }
      HOLDS(stream.left() > 0);
      const std::size_t count = 1 + random.below(stream.left());
      for (std::size_t i = 0; i < count; ++i)
        add_record(stream.records(), stream.records().locations[stream.at() + i], keep, parsed);
      stream.taken(count);
    }
  } catch (const wfacli::InputFault& fault) {
    add_fault(parsed.answer, fault);
    parsed.fault = true;
  }
  return parsed;
}

Parsed parse(Feed feed, RecordParts::Keep keep, std::uint64_t seed) {
  RecordStream stream(keep);
  return parse(stream, keep, Random(seed), [&] { feed.give(stream.lines()); });
}

Parsed parse_ahead(std::string_view text, std::size_t block, RecordParts::Keep keep, std::uint64_t seed) {
  const File file(text);
  RecordStream stream(keep);
  // Without threads the stream parses the blocks itself, in the same way.
  stream.read_ahead(std::make_shared<wfacli::ThreadPool>(0), file.descriptor(), 0, INT64_MAX, block);
  return parse(stream, keep, Random(seed), [] { HOLDS(!"a file needs no input"); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const RecordParts::Keep keep{!input.option(0), !input.option(1), !input.option(2)};
  Random random(input.seed());
  std::string text(input.text());
  // Repeat a byte, so that the line is longer than the parts in which Lines takes it.
  if (input.options(3, 3) == 1 && !text.empty()) {
    const std::size_t at = random.below(text.size());
    text.insert(at, (std::size_t{1} << 16) + random.below(20), text[at]);
  }
  const Parsed whole = parse(Feed(text), keep, random.next());
  const std::size_t least = text.size() / 500 + 1;  // bounds the number of blocks
  HOLDS(whole.answer == parse(text.size() > 60'000 ? Feed(text, 4) : Feed(text, random.next()), keep, random.next()).answer);
  HOLDS(whole.answer == parse_ahead(text, least + random.below(64), keep, random.next()).answer);
  if (!whole.fault && keep.bases && keep.quality) {
    const Parsed again = parse(Feed(whole.again), keep, random.next());
    HOLDS(again.answer == whole.answer);
  }
  return 0;
}
