// Bindings of the guard against libraries that end the process.
#include "base/exit_guard.hpp"
#include "bind/bind.hpp"

namespace wfacli {

void bind_exit(nb::module_& m) {
  const auto text = [](const nb::bytes& bytes) { return std::string(bytes.c_str(), bytes.size()); };
  m.def(
      "guard_exit", [text](const nb::bytes& message) { guard_exit(text(message)); }, nb::arg("message"),
      "For the command line: prints a message, removes empty files and names other incomplete ones if a library ends "
      "the process; b\"\" turns that off");
  m.def(
      "guard_file", [text](const nb::bytes& path, const nb::bytes& line) { guard_file(text(path), text(line)); },
      nb::arg("path"), nb::arg("line"), "Adds an incomplete file, and the line to print about it, to guard_exit()");
  m.def(
      "release_file", [text](const nb::bytes& path) { release_file(text(path)); }, nb::arg("path"),
      "Removes a file from those of guard_exit()");
}

}  // namespace wfacli
