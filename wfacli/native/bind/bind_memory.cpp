// Bindings of Python sequences as input, and CIGARs as Python strings as output.
#include "bind/bind.hpp"
#include "io/memory.hpp"
#include "engine/one_pair.hpp"
#include "format/sam_alignment.hpp"

namespace wfacli {
namespace {

// Position of a sequence in the input, for error messages.
struct Place {
  int stream;       // 0: query, 1: target
  Py_ssize_t pair;  // from 0

  const char* side() const { return stream == 0 ? "query" : "target"; }
  std::string name() const { return "pair" + std::to_string(pair + 1); }
};

[[noreturn]] void raise_input_error(const char* what, const Place& place) {
  const nb::object type = nb::module_::import_("wfacli.errors").attr("InputError");
  const nb::object error = type(place.side(), what, place.name());
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_type_error(const std::string& what, const Place& place) {
  throw nb::type_error((std::string(place.side()) + " of " + place.name() + ": " + what).c_str());
}

// The bytes of a str, a bytes object, or any object with a buffer of bytes; valid while this object and the item live.
class BorrowedBytes {
 public:
  BorrowedBytes(nb::handle item, const Place& place) {
    if (PyUnicode_Check(item.ptr())) {
      Py_ssize_t size = 0;
      const char* utf8 = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
      if (!utf8) {  // an unpaired surrogate, or no memory
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
        PyErr_Clear();
        raise_input_error("a character that is no text in the sequence", place);
      }
      text = {utf8, static_cast<std::size_t>(size)};
    } else if (PyBytes_Check(item.ptr())) {
      char* bytes = nullptr;
      Py_ssize_t size = 0;
      if (PyBytes_AsStringAndSize(item.ptr(), &bytes, &size) < 0) throw nb::python_error();
      text = {bytes, static_cast<std::size_t>(size)};
    } else {
      borrow(item, place);
    }
  }
  ~BorrowedBytes() {
    if (held_) PyBuffer_Release(&buffer_);
  }
  BorrowedBytes(const BorrowedBytes&) = delete;
  BorrowedBytes& operator=(const BorrowedBytes&) = delete;

  std::string_view text;

 private:
  void borrow(nb::handle item, const Place& place) {
    if (!PyObject_CheckBuffer(item.ptr()))
      raise_type_error("a sequence is str or bytes, not " + std::string(nb::inst_name(item).c_str()), place);
    if (PyObject_GetBuffer(item.ptr(), &buffer_, PyBUF_ND) < 0) throw nb::python_error();
    held_ = true;
    if (buffer_.itemsize != 1 || buffer_.ndim > 1) {
      PyBuffer_Release(&buffer_);
      raise_type_error("a sequence in an array is one dimension of bytes", place);
    }
    text = {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

  Py_buffer buffer_;
  bool held_ = false;
};

void add(MemoryPairs& to, nb::handle item, const Place& place) {
  try {
    const BorrowedBytes borrowed(item, place);
    if (place.stream == 0)
      to.query(borrowed.text);
    else
      to.target(borrowed.text);
  } catch (const InputFault& fault) {
    raise_input_error(fault.what(), place);
  }
}

// Return a list or tuple as it is, and any other iterable as a new list.
nb::object as_list_or_tuple(nb::handle sequences, const char* what) {
  // A str is a sequence of strings, and bytes are a sequence of numbers; reject both as a likely mistake.
  if (PyUnicode_Check(sequences.ptr()) || PyBytes_Check(sequences.ptr()) || PyByteArray_Check(sequences.ptr()))
    throw nb::type_error((std::string(what) + " is a list of sequences, not one sequence").c_str());
  PyObject* fast = PySequence_Fast(sequences.ptr(), "queries and targets are sequences of str or bytes");
  if (!fast) throw nb::python_error();
  return nb::steal(fast);
}

nb::handle item_of(nb::handle sequences, Py_ssize_t i) {
  PyObject* item = PyList_Check(sequences.ptr()) ? PyList_GetItem(sequences.ptr(), i)
                                                 : PyTuple_GetItem(sequences.ptr(), i);
  if (!item) throw nb::python_error();
  return item;
}

// Return the total length of the str and bytes items; other items count 0. Used to reserve memory.
std::int64_t total_length(nb::handle sequences, Py_ssize_t n) {
  std::int64_t length = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = item_of(sequences, i).ptr();
    if (PyUnicode_Check(item))
      length += PyUnicode_GetLength(item);
    else if (PyBytes_Check(item))
      length += PyBytes_Size(item);
  }
  return length;
}

nb::dict pack_pairs(nb::handle queries, nb::handle targets) {
  const nb::object q = as_list_or_tuple(queries, "queries"), t = as_list_or_tuple(targets, "targets");
  const Py_ssize_t n = PySequence_Size(q.ptr()), m = PySequence_Size(t.ptr());
  if (n != m) throw nb::value_error((std::to_string(n) + " queries, " + std::to_string(m) + " targets").c_str());
  MemoryPairs pairs;
  pairs.reserve(n, total_length(q, n) + total_length(t, n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    add(pairs, nb::borrow(item_of(q, i)), {0, i});
    add(pairs, nb::borrow(item_of(t, i)), {1, i});
  }
  return columns_dict(pairs.take());
}

// CIGARs of several rows, concatenated. Throws ValueError unless `start` fits `cigar`.
struct CigarRows {
  const std::uint32_t* cigar;
  const std::int64_t* start;
  std::int64_t rows;

  CigarRows(const InColumn<std::uint32_t>& c, const InColumn<std::int64_t>& s)
      : cigar(c.data()), start(s.data()), rows(static_cast<std::int64_t>(s.shape(0)) - 1) {
    bool inside = rows >= 0 && start[0] >= 0 && start[rows] <= static_cast<std::int64_t>(c.shape(0));
    for (std::int64_t r = 0; inside && r < rows; ++r) inside = start[r] <= start[r + 1];
    if (!inside) throw nb::value_error("cigar_start does not fit cigar");
  }
  SamAlignment row(std::int64_t r) const { return {.cigar = cigar + start[r], .operations = start[r + 1] - start[r]}; }
};

nb::object cigar_text(const SamAlignment& row, bool cigar_m, Text& scratch) {
  scratch.buffer().clear();
  Pen pen = scratch.room(static_cast<std::size_t>(row.operations) * (Pen::kDigits + 1) + 1);
  if (row.operations)
    pen = add_cigar(pen, row, cigar_m);
  else
    pen.add('*');
  scratch.done(pen);
  PyObject* text =
      PyUnicode_FromStringAndSize(scratch.buffer().data(), static_cast<Py_ssize_t>(scratch.buffer().size()));
  if (!text) throw nb::python_error();
  return nb::steal(text);
}

nb::object cigar_texts(InColumn<std::uint32_t> cigar, InColumn<std::int64_t> start, bool cigar_m) {
  const CigarRows rows(cigar, start);
  nb::object texts = nb::steal(PyList_New(static_cast<Py_ssize_t>(rows.rows)));
  if (!texts.is_valid()) throw nb::python_error();
  Text scratch;
  for (std::int64_t r = 0; r < rows.rows; ++r)
    PyList_SetItem(texts.ptr(), static_cast<Py_ssize_t>(r),
                   cigar_text(rows.row(r), cigar_m, scratch).release().ptr());
  return texts;
}

OutColumn<std::int32_t> cigar_counts(InColumn<std::uint32_t> cigar, InColumn<std::int64_t> start) {
  const CigarRows rows(cigar, start);
  Buffer<std::int32_t> counts;
  {
    nb::gil_scoped_release release;
    Cigar scratch;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const SamAlignment row = rows.row(r);
      const SamAlignment w = to_sam_alignment({}, row.cigar, row.operations, false, scratch);
      for (const std::int64_t count : {w.matches, w.mismatches, w.inserted, w.deleted})
        counts.push(static_cast<std::int32_t>(count));
    }
  }
  return to_numpy(counts);
}

// Return (cigar, cigar_start) of a batch aligned under wildcards, or with a penalty of ambiguous bases, with = and X by SAM's rule.
nb::tuple written_cigars(nb::handle batch, nb::handle alignments) {
  const BatchView pairs = batch_view(batch);
  const AlignmentView a = alignment_view(alignments);
  if (a.n != pairs.n) throw nb::value_error("the alignments are not those of this batch");
  Buffer<std::uint32_t> cigar;
  Buffer<std::int64_t> start;
  {
    nb::gil_scoped_release release;
    Cigar scratch;
    start.push(0);
    for (std::int64_t i = 0; i < a.n; ++i) {
      const bool split = needs_resolving(Ambiguous::Wildcard, pairs.flags[i]);
      const SamAlignment w = to_sam_alignment(pairs.pair(i).part(a.span + 4 * i), a.cigar + a.cigar_start[i],
                                              a.cigar_start[i + 1] - a.cigar_start[i], split, scratch);
      cigar.append(w.cigar, static_cast<std::size_t>(w.operations));
      start.push(static_cast<std::int64_t>(cigar.size()));
    }
  }
  return nb::make_tuple(to_numpy(cigar), to_numpy(start));
}

// Return the result of an aligned pair: (score, CIGAR, edits or -1, span, exact, status).
nb::tuple answer_of(ThreadAligner& own, const OnePair& pair, const AlignOptions& options, nb::handle ok) {
  constexpr std::size_t kKeptText = std::size_t{1} << 22;  // maximum bytes kept between pairs
  thread_local Text text;
  if (text.buffer().capacity() > kKeptText) text = Text();
  Cigar scratch;
  AlignedRows& rows = own.rows();
  const SamAlignment w =
      to_sam_alignment(pair.view().pair(0).part(rows.span.data()), rows.cigar.runs().data(), rows.cigar_start[1],
                       needs_resolving(options.ambiguous, pair.flags()), scratch);
  const nb::tuple span = nb::make_tuple(rows.span[0], rows.span[1], rows.span[2], rows.span[3]);
  return nb::make_tuple(rows.score[0], cigar_text(w, false, text), options.path ? w.edits() : -1, span, !rows.cut[0],
                        ok);
}

// Kernels, and the Python status of a pair with an alignment.
struct BoundSinglePairAligner {
  SinglePairAligner kernels;
  nb::object ok;
};

void make_single_pair_aligner(BoundSinglePairAligner* self, nb::sequence kernels, bool estimated,
                              std::int32_t min_target_ratio, std::int32_t max_cached_query, nb::object ok) {
  std::vector<AlignOptions> options;
  for (nb::handle one : kernels) options.push_back(nb::cast<const AlignOptions&>(one));
  new (self) BoundSinglePairAligner{
      SinglePairAligner(std::move(options), estimated, min_target_ratio, max_cached_query), std::move(ok)};
}

nb::tuple kind_of(const BoundSinglePairAligner& self, const OnePair& pair) {
  const OnePair::Kind kind = pair.kind(self.kernels.min_target_ratio());
  return nb::make_tuple(kind.longest, kind.edits, kind.flags, kind.target_much_longer);
}

// Align one pair with the cached first kernel for its kind, which suffices for nearly all pairs. The engine's
// first_kernel() chooses a kernel for a new kind, and its further() handles a pair without an alignment.
nb::object align_single(BoundSinglePairAligner& self, nb::handle engine, nb::handle query, nb::handle target) {
  const SinglePairAligner& kernels = self.kernels;
  std::optional<OnePair> pair;
  int kernel = SinglePairAligner::kUnknown;
  Status status = Status::Unsupported;
  ThreadAligner& own = thread_aligner();
  try {
    const BorrowedBytes q(query, {0, 0}), t(target, {1, 0});
    const nb::gil_scoped_release release;
    pair.emplace(q.text, t.text, kernels.estimated());
    kernel = kernels.first(*pair);
    if (kernel != SinglePairAligner::kUnknown) status = own.align(*pair, kernels.kernel(kernel));
  } catch (const InputFault& fault) {
    raise_input_error(fault.what(), {fault.stream, 0});
  }
  if (status == Status::Ok) return answer_of(own, *pair, kernels.kernel(kernel), self.ok);
  const nb::object held = nb::cast(std::move(*pair));
  if (kernel == SinglePairAligner::kUnknown) {
    const OnePair& found = nb::cast<const OnePair&>(held);
    kernel = nb::cast<int>(engine.attr("first_kernel")(held, query, target));
    self.kernels.remember(found, kernel);
    {
      const nb::gil_scoped_release release;
      status = own.align(found, kernels.kernel(kernel));
    }
    if (status == Status::Ok) return answer_of(own, found, kernels.kernel(kernel), self.ok);
  }
  return engine.attr("further")(held, kernel, static_cast<int>(status));
}

// Return (0, result) of a pair aligned with a given kernel, or (status, None).
nb::tuple align_with(BoundSinglePairAligner& self, const OnePair& pair, int kernel) {
  const AlignOptions& options = self.kernels.kernel(kernel);
  ThreadAligner& own = thread_aligner();
  Status status;
  {
    const nb::gil_scoped_release release;
    status = own.align(pair, options);
  }
  if (status != Status::Ok) return nb::make_tuple(static_cast<int>(status), nb::none());
  return nb::make_tuple(0, answer_of(own, pair, options, self.ok));
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("pack_pairs", &pack_pairs, nb::arg("queries"), nb::arg("targets"), "Columns of a batch named pair1, pair2, …");
  nb::class_<OnePair>(m, "OnePair", "One pair, to be aligned by itself")
      .def_prop_ro("query_len", &OnePair::query_len)
      .def_prop_ro("longest", &OnePair::longest)
      .def_prop_ro("flags", &OnePair::flags)
      .def_prop_ro("est_edits", &OnePair::est_edits);
  nb::class_<BoundSinglePairAligner>(m, "SinglePairAligner",
                                     "Aligns pairs in the calling thread, first by a kernel for their kind")
      .def("__init__", &make_single_pair_aligner, nb::arg("kernels"), nb::arg("estimated"),
           nb::arg("min_target_ratio"), nb::arg("max_cached_query"), nb::arg("ok"))
      .def(
          "kind", &kind_of, nb::arg("pair"),
          "(longest, edits, flags, target_much_longer): what pairs have in common for which the same kernel is chosen")
      .def("align", &align_single, nb::arg("engine"), nb::arg("query"), nb::arg("target"),
           "(score, CIGAR, edits, span, exact, ok); or what the engine's first_kernel and further say")
      .def("align_with", &align_with, nb::arg("pair"), nb::arg("kernel"), "(status, answer as of align or None)");
  m.def("cigar_texts", &cigar_texts, nb::arg("cigar"), nb::arg("cigar_start"), nb::arg("cigar_m"),
        "Each row's CIGAR; \"*\" where it is empty");
  m.def("cigar_counts", &cigar_counts, nb::arg("cigar"), nb::arg("cigar_start"),
        "i32[4m]: each row's matches, mismatches, inserted and deleted bases");
  m.def("written_cigars", &written_cigars, nb::arg("batch"), nb::arg("alignments"),
        "(cigar u32[C], cigar_start i64[n+1]) of alignments under wildcards, or with a penalty of ambiguous bases, with = and X as SAM has them");
}

}  // namespace wfacli
