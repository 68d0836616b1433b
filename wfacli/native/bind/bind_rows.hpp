// Bindings that an Aligner and an Extender share: alignment of rows by one thread, or by several.
#pragma once

#include "bind/bind.hpp"
#include "engine/shared_rows.hpp"

namespace wfacli {

// Align rows of a batch. Columns: converts AlignedRows to the Python object that is returned.
template <auto Columns, class Worker, class Options>
nb::object align_rows(Worker& self, nb::handle batch, InColumn<std::int32_t> rows, const Options& options,
                      const CancelFlag& cancelled) {
  const BatchView view = batch_view(batch);
  check_rows(rows, view.n);
  AlignedRows out;
  {
    nb::gil_scoped_release release;
    self.align(view, rows.data(), static_cast<std::int64_t>(rows.shape(0)), options, cancelled, out);
  }
  return Columns(out);
}

// A task and its rows. The binding keeps the batch, the options and the flag alive.
template <class Worker, class Options>
struct BoundTask {
  using Task = SharedRowsTask<Worker, Options>;
  InColumn<std::int32_t> rows;
  Task task;

  static void make(BoundTask* self, nb::handle batch, InColumn<std::int32_t> rows, const Options& options,
                   const CancelFlag& cancelled, std::int64_t min_bases, std::int64_t min_rows) {
    const BatchView view = batch_view(batch);
    check_rows(rows, view.n);
    const auto count = static_cast<std::int64_t>(rows.shape(0));
    new (self) BoundTask{rows, Task(view, rows.data(), count, options, cancelled, {min_bases, min_rows})};
  }

  // Align parts until all are taken. Between calls, in the main thread, Python's signal handlers run; an exception that
  // they raise, such as KeyboardInterrupt, ends the loop.
  void work(Worker& worker) {
    for (bool more = true; more;) {
      {
        nb::gil_scoped_release release;
        more = task.work(worker);
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }
};

template <auto Columns, class Worker, class Options>
nb::object results_of(BoundTask<Worker, Options>& self) {
  AlignedRows rows;
  {
    nb::gil_scoped_release release;
    rows = self.task.results();
  }
  return Columns(rows);
}

// Add the class `task`, and to `worker` the methods of one thread, whose align() returns `columns`.
template <auto Columns, class Worker, class Options>
void bind_rows(nb::module_& m, nb::class_<Worker>& worker, const char* task, const char* columns) {
  using Bound = BoundTask<Worker, Options>;
  worker.def(nb::init<const std::string&>(), nb::arg("isa") = "")
      .def_prop_ro("isa", &Worker::isa)
      .def("align", &align_rows<Columns, Worker, Options>, nb::arg("batch"), nb::arg("rows"), nb::arg("options"),
           nb::arg("cancelled"), columns);
  nb::class_<Bound>(m, task, "Rows of a batch that several threads share")
      .def("__init__", &Bound::make, nb::arg("batch"), nb::arg("rows"), nb::arg("options"), nb::arg("cancelled"),
           nb::arg("min_bases"), nb::arg("min_rows"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>(),
           nb::keep_alive<1, 5>())
      .def_prop_ro("parts", [](const Bound& self) { return self.task.parts(); })
      .def("work", &Bound::work, nb::arg("aligner"), "Aligns parts until all are taken; raises what signal handlers do")
      .def("results", &results_of<Columns, Worker, Options>,
           "Waits for parts that other threads have taken; returns the same as align()");
}

}  // namespace wfacli
