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
                    std::uint32_t longer, std::uint32_t runs, std::uint64_t seed, std::int64_t min_length,
                    std::int64_t max_length, const std::string& format, bool truth, std::int64_t insert,
                    std::int64_t insert_deviation, bool interleaved) {
  if (min_length < 0 || max_length < min_length || max_length >= std::int64_t{1} << 31)
    throw nb::value_error("lengths are from 0 to 2^31 - 1, the shortest first");
  const Reference* bases = reference.is_none() ? nullptr : nb::cast<const Reference*>(reference);
  if (insert < 0 || insert_deviation < 0 || insert >= std::int64_t{1} << 31 || insert_deviation >= std::int64_t{1} << 28)
    throw nb::value_error("an insert has less than 2^31 bases, and its deviation less than 2^28");
  if (insert > 0 && !bases) throw nb::value_error("pairs of reads are of a reference");
  PairSimulator made{reference,
                     bases,
                     {},
                     {seed, min_length, max_length, format_of(format), truth, insert, insert_deviation, interleaved}};
  fill(made.model.error_rate, chance);
  fill(made.model.phred, phred);
  made.model.uniform = true;
  for (std::size_t i = 0; i < made.model.error_rate.size(); ++i)
    made.model.uniform &= made.model.error_rate[i] == made.model.error_rate[i - i % kErrorPlaces];
  made.model.mismatch = mismatch;
  made.model.insertion = insertion;
  made.model.extension = longer;
  made.model.runs = runs;
  Simulator(made.model, made.options, bases);  // throws if there is nothing to sample from
  new (self) PairSimulator(std::move(made));
}

nb::tuple make_pairs(const PairSimulator& self, std::int64_t first, std::int64_t count) {
  SimulatedText out;
  {
    nb::gil_scoped_release release;
    Simulator(self.model, self.options, self.reference).make(first, count, out);
  }
  return nb::make_tuple(to_numpy(out.query.buffer()), to_numpy(out.target.buffer()), to_numpy(out.truth.buffer()),
                        out.bases, out.edits);
}

}  // namespace

void bind_simulate(nb::module_& m) {
  nb::class_<PairSimulator>(m, "PairSimulator", "Makes pairs of sequences that differ by errors of sequencing")
      .def("__init__", &make_simulator, nb::arg("reference").none(), nb::kw_only(), nb::arg("error_rate"),
           nb::arg("phred"), nb::arg("mismatch"), nb::arg("insertion"), nb::arg("extension"), nb::arg("runs"),
           nb::arg("seed"), nb::arg("min_length"), nb::arg("max_length"), nb::arg("format"), nb::arg("truth"),
           nb::arg("insert") = 0, nb::arg("insert_deviation") = 0, nb::arg("interleaved") = false)
      .def("make", &make_pairs, nb::arg("first"), nb::arg("count"),
           "(queries, targets, true alignments, bases, edits) of some pairs, texts as u8[n]; from any thread");
}

}  // namespace wfacli
