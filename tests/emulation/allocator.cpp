// The card's memory and page-locked memory, for tests/emulation/driver.py: each piece by itself, so that
// AddressSanitizer knows where it ends.
#include "fibers.hpp"
