// Joining reads (and mates) with their mappings: parts of reads and windows of a reference. Byte 0xff separates streams.
// Needs: io/read_ahead base/thread_pool base/buffer io/builder base/symbols mapped/mapped mapped/mapped_batch mapped/mapped_rows mapped/mapped_window mapped/mappings mapped/mapping_stream io/record_stream io/records io/reference io/file_blocks mapped/mapping_tags mapped/read_spill io/streams mapped/tags base/reverse_complement
#include "mapped/mapped.hpp"

#include "readers.hpp"

using namespace fuzz;

namespace {

// Sequences with the names that the corpus uses.
const wfacli::Reference& reference() {
  static wfacli::Reference* const made = [] {
    auto* all = new wfacli::Reference;
    std::string text = "chr0chr1chr2t", bases(1210, 'A');
    Random random(1);
    for (char& base : bases) base = "ACGTN"[random.below(41) / 10];
    const std::int64_t name[] = {0, 4, 8, 12}, start[] = {0, 400, 800, 1200};
    const std::int32_t name_len[] = {4, 4, 4, 1}, length[] = {400, 400, 400, 10};
    wfacli::BatchView batch{};
    batch.n = 4;
    batch.bases = reinterpret_cast<const std::uint8_t*>(bases.data());
    batch.text = reinterpret_cast<const std::uint8_t*>(text.data());
    batch.t_start = start, batch.t_len = length, batch.t_name = name, batch.t_name_len = name_len;
    all->add(batch);
    return all;
  }();
  return *made;
}

Answer parse(const wfacli::MappedOptions& options, std::vector<Feed> feeds, std::int64_t weight) {
  wfacli::MappedReader reader(reference(), options);
  Batches batches(true);
  read_all(reader, feeds, weight, 0, [&] {
    const wfacli::MappedBatch batch = reader.take().complete(reference());
    const wfacli::BatchColumns& b = batch.pairs;
    const wfacli::MappedColumns& m = batch.mapped;
    const std::size_t n = b.t_len.size();
    HOLDS(m.t_offset.size() == n && m.t_total.size() == n && m.read_start.size() == n && m.tags.size() == n);
    HOLDS(m.clip_begin.size() == n && m.clip_end.size() == n && m.first.size() == n && m.sam_flags.size() == n);
    HOLDS(m.tags_len.size() == n && m.mapq.size() == n);
    batches.add(b, [&](std::size_t i) {
      HOLDS(m.clip_begin[i] >= 0 && m.clip_end[i] >= 0);
      HOLDS(m.t_offset[i] >= 0 && m.t_offset[i] + b.t_len[i] <= m.t_total[i]);
      HOLDS(m.first[i] >= 0 && static_cast<std::size_t>(m.first[i]) <= i);
      HOLDS(m.first[i] == static_cast<std::int32_t>(i) || m.first[i] == m.first[i - 1]);
      const std::int32_t symbols = m.clip_begin[i] + b.q_len[i] + m.clip_end[i];
      Answer& answer = batches.answer;
      answer.number(m.t_offset[i]).number(m.t_total[i]).number(m.clip_begin[i]).number(m.clip_end[i]);
      answer.number(static_cast<std::int64_t>(i) - m.first[i]).number(m.sam_flags[i]).number(m.mapq[i]);
      answer.add(Batches::text(b, m.tags[i], m.tags_len[i])).number(m.read_start[i] >= 0).number(b.qual[i] >= 0);
      if (m.read_start[i] >= 0) answer.add(Batches::text(b, m.read_start[i], symbols));
      if (b.qual[i] >= 0) answer.add(Batches::text(b, b.qual[i], symbols));
      HOLDS(b.qual[i] < 0 || m.read_start[i] >= 0);
      // The aligned part is a part of the whole read.
      if (m.read_start[i] >= 0)
        HOLDS(Batches::text(b, m.read_start[i], symbols).substr(static_cast<std::size_t>(m.clip_begin[i]), static_cast<std::size_t>(b.q_len[i])) ==
              view(b.bases.data() + b.q_start[i], static_cast<std::size_t>(b.q_len[i])));
    });
  });
  const wfacli::MappedCounts& counts = reader.counts();
  HOLDS(counts.mapped_reads <= counts.reads && counts.mapped_reads <= counts.mappings);
  batches.answer.number(counts.mapped_reads).number(counts.mappings).number(counts.skipped).add(counts.first_skipped);
  batches.answer.number(counts.first_skipped_line).number(counts.reads);
  if (reader.fault()) add_fault(batches.answer, *reader.fault());
  return batches.answer;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  Random random(input.seed());
  wfacli::MappedOptions options;
  options.window.span = static_cast<wfacli::Span>(input.options(0, 2));
  options.window.pad = static_cast<std::int64_t>(random.below(20));
  options.window.reach = {2, 5, {{4, 2}, {24, 1}}, 100, 20};
  options.whole_reads = !input.option(2);
  options.keep_unmapped = input.option(3);
  options.copy_tags = input.option(4);
  options.copy_group = options.copy_tags != input.option(10);
  options.read_group = input.option(5);
  options.skip = input.option(6);
  options.mates = input.option(7);
  options.check_mate_order = input.option(8);
  options.folder = "/tmp";
  if (input.options(9, 4) == 1) options.max_buffered_bytes = 100;  // further reads wait in a file
  const auto parts = parts_of(input.text(), options.mates ? 3 : 2);
  std::vector<Feed> whole, pieces;
  for (const std::size_t part : {std::size_t{0}, parts.size() - 1, std::size_t{1}}) {
    if (whole.size() == parts.size()) break;
    whole.emplace_back(parts[part]);
    pieces.emplace_back(parts[part], random.next());
  }
  const auto weight = [&] { return static_cast<std::int64_t>(1 + random.below(2000)); };
  const Answer answer = parse(options, std::move(whole), weight());
  HOLDS(answer == parse(options, std::move(pieces), weight()));
  return 0;
}
