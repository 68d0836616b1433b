// nanobind's headers, which take the compiler as long as all of a binding unit: CMakeLists.txt has them precompiled.
#pragma once

// They cause thousands of lines of -Wshadow warnings, which would hide those of this project.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#pragma GCC diagnostic pop
