#include <algorithm>

#include "bind/bind.hpp"
#include "io/targets.hpp"
#include "mapped/grouping.hpp"
#include "mapped/grouping_scan.hpp"
#include "mapped/mapped.hpp"

namespace wfacli {
namespace {

Span span_of(const std::string& name) {
  if (name == "extended") return Span::Extended;
  if (name == "mapped") return Span::Mapped;
  if (name == "padded") return Span::Padded;
  if (name == "read") return Span::Read;
  throw nb::value_error("span is one of extended, mapped, padded, read");
}

nb::dict mapped_dict(MappedBatch batch) {
  MappedColumns& m = batch.mapped;
  nb::dict mapped;
  mapped["t_offset"] = to_numpy(m.t_offset);
  mapped["t_total"] = to_numpy(m.t_total);
  mapped["read_start"] = to_numpy(m.read_start);
  mapped["clip_begin"] = to_numpy(m.clip_begin);
  mapped["clip_end"] = to_numpy(m.clip_end);
  mapped["first"] = to_numpy(m.first);
  mapped["sam_flags"] = to_numpy(m.sam_flags);
  mapped["mapq"] = to_numpy(m.mapq);
  mapped["inner"] = to_numpy(m.inner);
  mapped["room"] = to_numpy(m.room);
  mapped["tags"] = to_numpy(m.tags);
  mapped["tags_len"] = to_numpy(m.tags_len);
  nb::dict d = columns_dict(std::move(batch.pairs));
  d["mapped"] = mapped;
  return d;
}

struct MappedToComplete {
  PendingMapped pending;
  const Reference& reference;
};

// Convert (match, bonus, ((open, extend) of each piece), max_query, max_excess).
Reach reach_of(nb::tuple r) {
  Reach reach{.match = nb::cast<std::int64_t>(r[0]),
              .bonus = nb::cast<std::int64_t>(r[1]),
              .gap = {},
              .max_query = nb::cast<std::int64_t>(r[3]),
              .max_excess = nb::cast<std::int64_t>(r[4])};
  const nb::tuple gaps = nb::cast<nb::tuple>(r[2]);
  for (std::size_t k = 0; k < 2; ++k) {
    const nb::handle piece = gaps[gaps.size() > 1 ? k : 0];
    reach.gap[k] = {nb::cast<std::int32_t>(piece[0]), nb::cast<std::int32_t>(piece[1])};
    if (reach.gap[k].extend < 1) throw nb::value_error("penalties out of range");
  }
  return reach;
}

// Call `add`, and raise its std::invalid_argument as a ValueError with a bytes message, because the sequence name in
// it need not be UTF-8.
template <class Add>
void named_in_errors(Add add) {
  try {
    add();
  } catch (const std::invalid_argument& error) {
    PyErr_SetObject(PyExc_ValueError, nb::bytes(error.what()).ptr());
    throw nb::python_error();
  }
}

nb::dict counts_dict(const MappedCounts& counts) {
  nb::dict d;
  d["reads"] = counts.reads;
  d["mapped_reads"] = counts.mapped_reads;
  d["mappings"] = counts.mappings;
  d["skipped"] = counts.skipped;
  return d;
}

}  // namespace

void bind_mapped(nb::module_& m) {
  nb::class_<Reference>(m, "Reference", "Sequences that reads are mapped to, in memory")
      .def(nb::init<>())
      .def(
          "add",
          [](Reference& self, nb::handle batch) {
            const BatchView view = batch_with_records(batch);
            named_in_errors([&] {
              nb::gil_scoped_release release;
              self.add(view);
            });
          },
          nb::arg("batch"),
          "Adds a batch's targets; ValueError with the name (bytes) of one that is there, or b\"\" for one without a "
          "name")
      .def("__len__", &Reference::size)
      .def("name", [](const Reference& self, int i) { return nb::bytes(self.name(i).data(), self.name(i).size()); })
      .def("length", &Reference::length)
      .def("use_file", &Reference::use_file, nb::arg("descriptor"),
           "Reads bases on demand from a file; see add_indexed(). Raises RuntimeError")
      .def(
          "add_indexed",
          [](Reference& self, nb::bytes name, std::int64_t length, std::int64_t offset, std::int64_t line_bases,
             std::int64_t line_bytes) {
            named_in_errors([&] {
              self.add_indexed(std::string(name.c_str(), name.size()), length, offset, line_bases, line_bytes);
            });
          },
          nb::arg("name"), nb::arg("length"), nb::arg("offset"), nb::arg("line_bases"), nb::arg("line_bytes"),
          "Adds a sequence that lies in the file; ValueError as add() has it")
      .def(
          "set_loader",
          [](Reference& self, InColumn<std::int64_t> starts, nb::object load) {
            self.set_loader({starts.data(), starts.data() + starts.shape(0)},
                            [load](const std::vector<std::int64_t>& blocks) {
                              nb::gil_scoped_acquire acquire;
                              nb::list numbers;
                              for (const std::int64_t block : blocks) numbers.append(block);
                              load(numbers);
                            });
          },
          nb::arg("starts"), nb::arg("load"),
          "The file has its bytes in blocks that begin at starts (i64[n]); load is called with the indices of those "
          "wanted")
      .def(
          "sam_lines",
          [](const Reference& self, int first, int last) {
            Text lines;
            named_in_errors([&] {
              nb::gil_scoped_release release;
              lines = sequence_lines(self, first, last);
            });
            return to_numpy(lines.buffer());
          },
          nb::arg("first"), nb::arg("last"),
          "@SQ lines of the sequences first .. last - 1 that are not empty; ValueError with a name (bytes) that SAM does "
          "not allow")
      .def_prop_ro("matches_index", &Reference::matches_index, "Whether the file has been as its index says, so far")
      .def(
          "bases",
          [](const Reference& self, int i, std::int64_t begin, std::int64_t end) {
            if (i < 0 || i >= self.size()) throw nb::index_error();
            end = std::min(end, self.length(i));
            begin = std::clamp<std::int64_t>(begin, 0, end);
            Buffer<std::uint8_t> bases;
            bases.resize(static_cast<std::size_t>(end - begin));
            {
              nb::gil_scoped_release release;
              if (self.needs_load()) self.load({{i, begin, end}});
              self.copy(i, begin, end, bases.data());
            }
            return to_numpy(bases);
          },
          nb::arg("number"), nb::arg("begin"), nb::arg("end"),
          "u8[end - begin], truncated at the end of the sequence");

  nb::class_<MappedToComplete>(m, "PendingMapped", "A batch of mapped reads that are still to be copied")
      .def(
          "complete",
          [](MappedToComplete& self) {
            MappedBatch batch;
            {
              nb::gil_scoped_release release;
              batch = self.pending.complete(self.reference);
            }
            return mapped_dict(std::move(batch));
          },
          "Copies them and returns the batch as {name: column}; once, in any thread");
  nb::class_<MappedReader, StreamReader>(m, "MappedReader", "Parts of reads and the windows to which they are mapped")
      .def(
          "__init__",
          [](MappedReader* self, const Reference& reference, const std::string& span, std::int64_t pad,
             bool whole_reads, bool keep_unmapped, bool copy_tags, bool copy_group, bool read_group, bool skip,
             bool mates, bool mates_in_order, bool in_order, std::optional<nb::tuple> reach, const std::string& folder,
             std::size_t spill_threshold) {
            const WindowOptions window{span_of(span), pad, reach ? reach_of(*reach) : Reach()};
            const RowOptions rows{window, whole_reads, copy_tags, copy_group, read_group};
            new (self) MappedReader(reference, {rows, keep_unmapped, mates, mates_in_order, in_order, skip, folder,
                                                spill_threshold});
          },
          nb::arg("reference"), nb::kw_only(), nb::arg("span"), nb::arg("pad"), nb::arg("whole_reads"),
          nb::arg("keep_unmapped"), nb::arg("copy_tags"), nb::arg("copy_group"), nb::arg("read_group"),
          nb::arg("skip"), nb::arg("mates"), nb::arg("mates_in_order"), nb::arg("in_order"),
          nb::arg("reach") = nb::none(), nb::arg("folder"), nb::arg("spill_threshold"), nb::keep_alive<1, 2>())
      .def(
          "take",
          [](MappedReader& self) { return MappedToComplete{self.take(), self.reference()}; }, nb::keep_alive<0, 1>(),
          "The rows so far as a batch that is still to be completed; keeps the reader")
      .def("resume_unmapped", &MappedReader::resume_unmapped,
           "Lets fill() continue with the reads that no mapping named")
      .def("counts", [](const MappedReader& self) { return counts_dict(self.counts()); })
      .def("first_skipped", [](const MappedReader& self) {
        const MappedCounts& counts = self.counts();
        return nb::make_tuple(nb::bytes(counts.first_skipped.data(), counts.first_skipped.size()), counts.first_skipped_line);
      })
      .def_prop_ro("first_mapping", &MappedReader::first_mapping,
                   "Offset of the first mapping in its stream, behind a header; 0 without a mapping")
      .def_prop_ro("early_reads", &MappedReader::early_reads, "Reads so far that came before their mappings")
      .def("splits_mates", &MappedReader::splits_mates,
           "Whether, since the last call, the first read after a batch was the mate of the last one before it")
      .def("earliest_named",
           [](MappedReader& self) -> std::int64_t {
             const std::size_t earliest = self.earliest_named();
             return earliest == SIZE_MAX ? -1 : static_cast<std::int64_t>(earliest);
           },
           "The earliest of those, by number, whose mapping came since the last call; -1 if there was none")
      .def("reported", [](const MappedReader& self) { return self.counts().reported; });

  m.def(
      "scan_grouping",
      [](int descriptor, int threads, std::size_t block) -> std::optional<bool> {
        if (threads < 1 || block < 1) throw nb::value_error("threads and block are at least 1");
        nb::gil_scoped_release release;
        const GroupingAnswer answer = scan_grouping(descriptor, threads, block);
        if (answer == GroupingAnswer::Unknown) return std::nullopt;
        return answer == GroupingAnswer::Grouped;
      },
      nb::arg("descriptor"), nb::arg("threads"), nb::arg("block"),
      "Whether the mappings of each read follow one another in a PAF or SAM file, read by threads in blocks of bytes; "
      "None if MappingGroups has to tell");

  nb::class_<MappingGroups>(m, "MappingGroups", "Whether mappings of a read follow one another, or shall")
      .def(nb::init<bool>(), nb::arg("places"))
      .def(
          "prepare",
          [](nb::handle_t<MappingGroups> self, std::size_t bytes) {
            return OutColumn<std::uint8_t>(nb::cast<MappingGroups&>(self).prepare(bytes), {bytes}, self);
          },
          nb::arg("bytes"), "A writable array for the next block, valid until commit()")
      .def("commit", &MappingGroups::commit, nb::arg("bytes"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("grouped", &MappingGroups::grouped)
      .def_prop_ro("too_long", &MappingGroups::too_long, "Whether a line is longer than max_line_bytes()")
      .def_prop_ro("ended_inside", &MappingGroups::ended_inside)
      .def(
          "write",
          [](MappingGroups& self, InColumn<std::uint8_t> text, int descriptor) {
            nb::gil_scoped_release release;
            self.write(text.data(), text.shape(0), descriptor);
          },
          nb::arg("text"), nb::arg("descriptor"), "Writes the text that was taken, grouped, to a file");
}

}  // namespace wfacli
