// Pairs from two files of records, .seq files and tables.
// Needs: io/read_ahead base/thread_pool base/buffer io/builder base/symbols io/pairs io/record_stream io/records io/streams
#include "io/pairs.hpp"

#include "readers.hpp"

using namespace fuzz;
using wfacli::Layout;
using wfacli::RecordParts;

namespace {

Answer parse(wfacli::PairReader& reader, std::vector<Feed> feeds, bool symbols, std::int64_t weight, std::size_t lent) {
  Batches batches(symbols);
  read_all(reader, feeds, weight, lent, [&] {
    const wfacli::BatchColumns b = reader.take().complete();
    batches.add(b, [&](std::size_t i) {
      batches.answer.number(b.qual[i] >= 0);
      if (b.qual[i] < 0) return;
      const std::string_view quality = Batches::text(b, b.qual[i], b.q_len[i]);
      HOLDS(all_visible(quality));
      batches.answer.add(quality);
    });
  });
  if (reader.fault()) add_fault(batches.answer, *reader.fault());
  return batches.answer;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const auto layout = static_cast<Layout>(input.options(0, 2));
  const RecordParts::Keep keep{!input.option(2), !input.option(3), false};
  Random random(input.seed());
  const auto parts = parts_of(input.text(), layout == Layout::TwoFiles ? 2 : 1);
  std::vector<Feed> whole, pieces;
  for (const std::string_view part : parts) {
    whole.emplace_back(part);
    pieces.emplace_back(part, random.next());
  }
  const auto weight = [&] { return static_cast<std::int64_t>(1 + random.below(300)); };
  wfacli::PairReader first(layout, keep), second(layout, keep), third(layout, keep);
  const Answer answer = parse(first, whole, keep.bases, weight(), 0);
  const std::size_t lent = input.option(4) ? 1 + random.below(400) : 0;
  HOLDS(answer == parse(second, pieces, keep.bases, weight(), lent));
  if (!input.option(5)) return 0;
  std::vector<std::unique_ptr<File>> files;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    files.push_back(std::make_unique<File>(parts[i]));
    third.attach(static_cast<int>(i), files[i]->descriptor(), 0, 1 + random.below(5000));
  }
  HOLDS(answer == parse(third, {}, keep.bases, weight(), lent));
  return 0;
}
