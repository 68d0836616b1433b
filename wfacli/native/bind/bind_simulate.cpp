#include <algorithm>

#include "bind/bind.hpp"
#include "io/simulate.hpp"

namespace wfacli {
namespace {

PairFormat format_of(const std::string& name) {
  if (name == "fasta") return PairFormat::Fasta;
  if (name == "fastq") return PairFormat::Fastq;
  if (name == "seq") return PairFormat::Seq;
  if (name == "tsv") return PairFormat::Table;
  throw nb::value_error(("no such format of pairs: " + name).c_str());
}

// A simulator, shared by all threads.
struct PairSimulator {
  nb::object held;  // keeps `reference` alive
  const Reference* reference;
  ErrorModel model;
  SimulationOptions options;
};

template <class T, std::size_t n>
void fill(std::array<T, n>& to, const InColumn<T>& from) {
  if (from.shape(0) != n) throw nb::value_error("a table of the model has another size");
  std::copy_n(from.data(), n, to.begin());
}

void make_simulator(PairSimulator* self, nb::object reference, InColumn<std::uint32_t> chance,
                    InColumn<std::uint8_t> phred, std::uint32_t mismatch, std::uint32_t insertion,
                    std::uint32_t longer, std::uint32_t runs, std::uint64_t seed, std::int64_t shortest,
                    std::int64_t longest, const std::string& format, bool truth, std::int64_t insert,
                    std::int64_t insert_deviation, bool interleaved) {
  if (shortest < 0 || longest < shortest || longest >= std::int64_t{1} << 31)
    throw nb::value_error("lengths are from 0 to 2^31 - 1, the shortest first");
  const Reference* letters = reference.is_none() ? nullptr : nb::cast<const Reference*>(reference);
  if (insert < 0 || insert_deviation < 0 || insert >= std::int64_t{1} << 31 || insert_deviation >= std::int64_t{1} << 28)
    throw nb::value_error("an insert has less than 2^31 letters, and its deviation less than 2^28");
  if (insert > 0 && !letters) throw nb::value_error("pairs of reads are of a reference");
  PairSimulator made{
      reference, letters, {}, {seed, shortest, longest, format_of(format), truth, insert, insert_deviation, interleaved}};
  fill(made.model.chance, chance);
  fill(made.model.phred, phred);
  made.model.even = true;
  for (std::size_t i = 0; i < made.model.chance.size(); ++i)
    made.model.even &= made.model.chance[i] == made.model.chance[i - i % kErrorPlaces];
  made.model.mismatch = mismatch;
  made.model.insertion = insertion;
  made.model.longer = longer;
  made.model.runs = runs;
  Simulator(made.model, made.options, letters);  // throws if there is nothing to sample from
  new (self) PairSimulator(std::move(made));
}

nb::tuple make_pairs(const PairSimulator& self, std::int64_t first, std::int64_t count) {
  SimulatedText out;
  {
    nb::gil_scoped_release release;
    Simulator(self.model, self.options, self.reference).make(first, count, out);
  }
  return nb::make_tuple(to_numpy(out.query.buffer()), to_numpy(out.target.buffer()), to_numpy(out.truth.buffer()),
                        out.letters, out.edits);
}

}  // namespace

void bind_simulate(nb::module_& m) {
  nb::class_<PairSimulator>(m, "PairSimulator", "Makes pairs of sequences that differ by errors of sequencing")
      .def("__init__", &make_simulator, nb::arg("reference").none(), nb::kw_only(), nb::arg("chance"),
           nb::arg("phred"), nb::arg("mismatch"), nb::arg("insertion"), nb::arg("longer"), nb::arg("runs"),
           nb::arg("seed"), nb::arg("shortest"), nb::arg("longest"), nb::arg("format"), nb::arg("truth"),
           nb::arg("insert") = 0, nb::arg("insert_deviation") = 0, nb::arg("interleaved") = false)
      .def("make", &make_pairs, nb::arg("first"), nb::arg("count"),
           "(queries, targets, true alignments, letters, edits) of some pairs, texts as u8[n]; from any thread");
}

}  // namespace wfacli
