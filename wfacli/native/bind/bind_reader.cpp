#include <algorithm>

#include "bind/bind.hpp"
#include "io/pairs.hpp"
#include "io/targets.hpp"

namespace wfacli {
namespace {

using ByteArray = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Return borrowed memory as an array that keeps its owner alive.
OutColumn<std::uint8_t> borrowed_bases(BaseBuffer& bases) {
  return {bases.data(), {bases.size()}, *static_cast<nb::object*>(bases.owner().get())};
}

void use_memory(StreamReader& self, nb::object memory) {
  const auto array = nb::cast<ByteArray>(memory, false);
  const std::shared_ptr<void> owner(new nb::object(memory), [](void* held) {
    nb::gil_scoped_acquire acquire;
    delete static_cast<nb::object*>(held);
  });
  self.use_external(array.data(), array.shape(0), owner);
}

// Return (bases of all sequences, longest query, longest target), with which no other thread has to look for them.
nb::tuple lengths_of(const BatchColumns& columns) {
  std::int64_t total = 0;
  std::int32_t longest_query = 0, longest_target = 0;
  const auto look = [&](const Buffer<std::int32_t>& lengths, std::int32_t& longest) {
    for (std::size_t i = 0; i < lengths.size(); ++i) total += lengths[i], longest = std::max(longest, lengths[i]);
  };
  look(columns.q_len, longest_query);
  look(columns.t_len, longest_target);
  return nb::make_tuple(total, longest_query, longest_target);
}

}  // namespace

nb::dict columns_dict(BatchColumns columns) {
  nb::dict d;
  d["lengths"] = lengths_of(columns);
  d["bases"] = columns.bases.owner() ? borrowed_bases(columns.bases) : to_numpy(columns.bases.own());
  d["q_start"] = to_numpy(columns.q_start);
  d["t_start"] = to_numpy(columns.t_start);
  d["q_len"] = to_numpy(columns.q_len);
  d["t_len"] = to_numpy(columns.t_len);
  d["flags"] = to_numpy(columns.flags);
  d["text"] = to_numpy(columns.text);
  d["q_name"] = to_numpy(columns.q_name);
  d["t_name"] = to_numpy(columns.t_name);
  d["qual"] = to_numpy(columns.qual);
  d["q_name_len"] = to_numpy(columns.q_name_len);
  d["t_name_len"] = to_numpy(columns.t_name_len);
  return d;
}

namespace {

Layout layout_of(const std::string& name) {
  if (name == "two") return Layout::TwoFiles;
  if (name == "targets") return Layout::Targets;
  if (name == "seq") return Layout::Seq;
  if (name == "tsv") return Layout::Tsv;
  throw nb::value_error("layout is one of two, targets, seq, tsv");
}

}  // namespace

void bind_reader(nb::module_& m) {
  m.def(
      "set_max_line_bytes", [](std::size_t bytes) { max_line_bytes = bytes; }, nb::arg("bytes"),
      "Bytes that a line may have that is no sequence, for the whole process");
  m.def("max_line_bytes", [] { return max_line_bytes.load(); }, "What set_max_line_bytes() was given, or its default");
  nb::enum_<Next>(m, "Next", "What PairReader.fill wants next")
      .value("FULL", Next::Full)
      .value("NEED_QUERY", Next::NeedQuery)
      .value("NEED_TARGET", Next::NeedTarget)
      .value("NEED_MATES", Next::NeedMates)
      .value("END", Next::End)
      .value("FAILED", Next::Failed);

  nb::class_<StreamReader>(m, "StreamReader", "Two streams, or one; the caller brings the bytes")
      .def(
          "prepare",
          [](nb::handle_t<StreamReader> self, int stream, std::size_t bytes) {
            std::uint8_t* room = nb::cast<StreamReader&>(self).prepare(stream, bytes);
            return OutColumn<std::uint8_t>(room, {bytes}, self);
          },
          nb::arg("stream"), nb::arg("bytes"), "A writable array for the stream's next block, valid until commit()")
      .def(
          "use_memory", &use_memory, nb::arg("memory"),
          "Memory (u8[any]) for the bases of the batch that begins; its array then keeps this one alive. Where they "
          "do not fit they go into memory of their own")
      .def("commit", &StreamReader::commit, nb::arg("stream"), nb::arg("bytes"))
      .def("start_threads", &StreamReader::start_threads, nb::arg("threads"),
           "Starts threads that help fill() with regular files of records, which are attached later")
      .def("attach", &StreamReader::attach, nb::arg("stream"), nb::arg("descriptor"), nb::arg("position"),
           nb::arg("block"), nb::arg("end") = INT64_MAX,
           "Lets fill() read the rest of a stream itself, up to an offset; position -1 is where the descriptor stands")
      .def("copy_later", &StreamReader::copy_later,
           "Leaves copying to complete() of a batch, as far as the memory of records lasts; else threads of fill() copy them")
      .def("track", &StreamReader::track, "Keeps the places of records, for places(); of mapped reads not with start_threads()")
      .def(
          "places",
          [](const StreamReader& self) {
            nb::list places;
            for (const StreamPlace& p : self.places()) places.append(nb::make_tuple(p.offset, p.lines, p.records));
            return places;
          },
          "After take(): (offset, lines, records) before the first pair that is in no batch, for each stream")
      .def("bytes_read", &StreamReader::bytes_read, nb::arg("stream"))
      .def("fill", &StreamReader::fill, nb::arg("weight"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("pending_pairs", &StreamReader::pending_pairs)
      .def("fault", [](const StreamReader& self) -> nb::object {
        const InputFault* f = self.fault();
        if (!f) return nb::none();
        return nb::make_tuple(f->stream, nb::bytes(f->what()), f->line, nb::bytes(f->record.data(), f->record.size()));
      });

  nb::class_<PendingPairs>(m, "PendingPairs", "A batch of which some records are still to be copied")
      .def(
          "complete",
          [](PendingPairs& self) {
            BatchColumns columns;
            {
              nb::gil_scoped_release release;
              columns = self.complete();
            }
            return columns_dict(std::move(columns));
          },
          "Copies them and returns the batch as {name: column}; once, in any thread");
  nb::class_<PairReader, StreamReader>(m, "PairReader", "Pairs out of one stream or two")
      .def(
          "__init__",
          [](PairReader* self, const std::string& layout, bool keep_bases, bool keep_quality) {
            new (self) PairReader(layout_of(layout), {keep_bases, keep_quality});
          },
          nb::arg("layout"), nb::arg("keep_bases") = true, nb::arg("keep_quality") = true)
      .def("take", &PairReader::take, "The pairs so far as a batch that is still to be completed")
      .def("resume", &PairReader::resume, nb::arg("pairs"), nb::arg("columns"),
           "Begins behind these pairs of a file of which the streams are the rest; columns: of its table, or 0")
      .def_prop_ro("columns", &PairReader::columns, "Columns of a table; 0 if not known");

  nb::class_<TargetTable>(m, "TargetTable", "Distinct targets for a SAM header")
      .def(nb::init<std::int64_t>(), nb::arg("max_entries"))
      .def(
          "add",
          [](TargetTable& self, nb::handle batch, int threads) {
            const BatchView view = batch_with_records(batch);
            TargetTable::Added added;
            {
              nb::gil_scoped_release release;
              added = self.add(view, threads);
            }
            Buffer<std::uint64_t> spilled;
            for (std::size_t i = 0; i < added.spilled.size(); ++i) {
              const TargetTable::Entry& e = added.spilled[i];
              const std::uint64_t columns[] = {e.hash, e.more, static_cast<std::uint64_t>(e.length)};
              spilled.append(columns, 3);
            }
            return nb::make_tuple(added.clash, to_numpy(added.lines), to_numpy(spilled));
          },
          nb::arg("batch"), nb::arg("threads") = 1,
          "(row that clashes or -1, new @SQ lines u8[...], spilled u64[3k]: hash, hash, length of those lines)");
}

}  // namespace wfacli
