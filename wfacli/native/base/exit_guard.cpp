// See exit_guard.hpp.
#include "base/exit_guard.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace wfacli {
namespace {

struct Guard {
  std::mutex mutex;
  std::string message;                       // empty: off
  std::map<std::string, std::string> files;  // lines by path
  pid_t process = 0;                         // a forked child does not own the files
};

// Never destroyed, since other threads may still use it during exit().
Guard& guard() {
  static Guard* const the_guard = new Guard;
  return *the_guard;
}

void print(const std::string& text) {
  // Nothing can be done if standard error cannot be written.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void report() {
  Guard& g = guard();
  const std::unique_lock lock(g.mutex, std::try_to_lock);
  if (!lock || g.message.empty() || g.process != getpid()) return;
  print(g.message);
  for (const auto& [path, line] : g.files) {
    struct stat there;
    if (stat(path.c_str(), &there) != 0) continue;
    if (there.st_size == 0)
      unlink(path.c_str());
    else
      print(line);
  }
}

}  // namespace

void guard_exit(const std::string& message) {
  static const int registered = std::atexit(report);
  (void)registered;
  Guard& g = guard();
  const std::lock_guard lock(g.mutex);
  g.message = message;
  g.process = getpid();
}

void guard_file(const std::string& path, const std::string& line) {
  Guard& g = guard();
  const std::lock_guard lock(g.mutex);
  g.files[path] = line;
}

void release_file(const std::string& path) {
  Guard& g = guard();
  const std::lock_guard lock(g.mutex);
  g.files.erase(path);
}

}  // namespace wfacli
