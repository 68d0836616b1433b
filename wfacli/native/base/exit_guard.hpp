// Reports a process that a library ends: where memory is short, OpenBLAS calls exit() without an exception.
//
// While the guard is on, exit() prints a message, removes files without any bytes, and names the other ones. Python's
// own way to the end turns the guard off first.
#pragma once

#include <string>

namespace wfacli {

// Turns the guard on, with the message to print; an empty message turns it off.
void guard_exit(const std::string& message);

// Adds an incomplete file with the line to print about it, or removes it from the guard's files.
void guard_file(const std::string& path, const std::string& line);
void release_file(const std::string& path);

}  // namespace wfacli
