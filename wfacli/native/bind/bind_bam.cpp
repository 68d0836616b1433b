#include "bind/bind.hpp"

#include <nanobind/stl/vector.h>

#include "format/bam_index.hpp"
#include "format/bgzf.hpp"
#include "format/sorted_frames.hpp"
#include "format/target_ids.hpp"

namespace wfacli {
namespace {

std::string_view text_of(const InColumn<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
}

OutColumn<std::uint8_t> to_bytes_array(Buffer<char>& text) {
  Buffer<std::uint8_t> bytes;
  bytes.append(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return to_numpy(bytes);
}

// A merge, the arrays whose frames it reads, and the records that it has merged.
struct HeldMerge {
  FrameMerge merge;
  Buffer<char> out;
  std::vector<InColumn<std::uint8_t>> held;

  explicit HeldMerge(std::size_t runs) : merge(runs), held(runs) {}
};

// Return bytes that an object owns as an array.
nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>, nb::c_contig> bytes_in(const TargetIds& owner,
                                                                              std::string_view bytes) {
  return {bytes.data(), {bytes.size()}, nb::find(owner)};
}

}  // namespace

void bind_bam(nb::module_& m) {
  nb::class_<TargetIds>(m, "TargetIds")
      .def(
          "__init__",
          [](TargetIds* self, const std::vector<InColumn<std::uint8_t>>& text, int threads) {
            if (threads < 1) throw nb::value_error("threads is at least 1");
            std::vector<std::string_view> pieces;
            for (const auto& piece : text) pieces.push_back(text_of(piece));
            nb::gil_scoped_release release;
            new (self) TargetIds(pieces, threads);
          },
          nb::arg("text"), nb::arg("threads") = 1)
      .def(
          "number",
          [](TargetIds& self, int threads) {
            if (threads < 1) throw nb::value_error("threads is at least 1");
            nb::gil_scoped_release release;
            self.number(threads);
          },
          nb::arg("threads") = 1)
      .def("find", [](const TargetIds& t, nb::bytes name, int guess) { return t.find({name.c_str(), name.size()}, guess); },
           nb::arg("name"), nb::arg("guess") = -1)
      .def("__len__", &TargetIds::count)
      .def_prop_ro("longest", &TargetIds::longest)
      .def_prop_ro("text", [](const TargetIds& t) { return bytes_in(t, t.text()); }, nb::rv_policy::reference_internal)
      .def_prop_ro("begin", [](const TargetIds& t) { return bytes_in(t, t.begin()); }, nb::rv_policy::reference_internal)
      .def_prop_ro("sequences", [](const TargetIds& t) { return bytes_in(t, t.sequences()); },
                   nb::rv_policy::reference_internal);

  m.def(
      "bgzf_blocks",
      [](InColumn<std::uint8_t> data, std::size_t block, int level,
         std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t> libdeflate) {
        if (block < 1) throw nb::value_error("a block has at least one byte");
        const auto [alloc, compress, free, crc32] = libdeflate;
        const Libdeflate by{reinterpret_cast<decltype(Libdeflate::alloc_compressor)>(alloc),
                            reinterpret_cast<decltype(Libdeflate::deflate_compress)>(compress),
                            reinterpret_cast<decltype(Libdeflate::free_compressor)>(free),
                            reinterpret_cast<decltype(Libdeflate::crc32)>(crc32)};
        BgzfBlocks blocks;
        {
          nb::gil_scoped_release release;
          blocks = bgzf_blocks(text_of(data), block, level, by);
        }
        return nb::make_tuple(to_numpy(blocks.bytes), to_numpy(blocks.sizes));
      },
      nb::arg("data"), nb::arg("block"), nb::arg("level"), nb::arg("libdeflate"),
      "(BGZF blocks of `block` bytes of data each, their sizes i64[n]); the addresses of four functions, see bgzf.hpp");

  m.def(
      "sorted_bam_frames",
      [](InColumn<std::uint8_t> records) {
        Buffer<char> frames;
        std::size_t bytes = 0;
        {
          nb::gil_scoped_release release;
          frames = sorted_bam_frames(text_of(records), bytes);
        }
        return nb::make_tuple(to_bytes_array(frames), bytes);
      },
      nb::arg("records"),
      "(frames of the complete BAM records at the front, sorted; bytes of these records). Raises ValueError");

  nb::class_<HeldMerge>(m, "FrameMerge")
      .def(nb::init<std::size_t>(), nb::arg("runs"))
      .def(
          "feed",
          [](HeldMerge& self, std::size_t run, InColumn<std::uint8_t> frames) {
            self.merge.feed(run, text_of(frames));
            self.held[run] = std::move(frames);
          },
          nb::arg("run"), nb::arg("frames"))
      .def(
          "merge",
          [](HeldMerge& self, std::size_t limit, bool keep_frames) {
            nb::gil_scoped_release release;
            return self.merge.merge(self.out, limit, keep_frames);
          },
          nb::arg("limit"), nb::arg("keep_frames"))
      .def("take", [](HeldMerge& self) {
        Buffer<char> out = std::move(self.out);
        self.out = Buffer<char>();
        return to_bytes_array(out);
      });

  nb::class_<BamIndex>(m, "BamIndex")
      .def(
          "__init__",
          [](BamIndex* self, const TargetIds& targets, bool csi) {
            new (self) BamIndex(targets.count(), targets.longest(), csi);
          },
          nb::arg("targets"), nb::arg("csi"))
      .def(
          "add",
          [](BamIndex& self, InColumn<std::uint8_t> records, std::size_t block_bytes,
             const std::vector<std::uint64_t>& blocks) {
            nb::gil_scoped_release release;
            self.add(text_of(records), block_bytes, blocks);
          },
          nb::arg("records"), nb::arg("block_bytes"), nb::arg("blocks"))
      .def("finish", [](BamIndex& self) {
        Buffer<char> out = self.finish();
        return to_bytes_array(out);
      });
}

}  // namespace wfacli
