// Turns callgrind's counting on and off from inside the program that it runs; loaded by bench/checks/counted.py.
#include <valgrind/callgrind.h>

int counting(void) { return RUNNING_ON_VALGRIND; }
void count(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}
void dump(const char* name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
