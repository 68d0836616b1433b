#include "io/streams.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace wfacli {
namespace {

constexpr std::int64_t kWorthHelp = 2;  // blocks; smaller files are read faster than threads start

}  // namespace

void StreamReader::commit(int stream, std::size_t bytes) {
  if (bytes)
    lines(stream).commit(bytes);
  else
    lines(stream).close();
}

void StreamReader::start_threads(int threads) {
  if (threads <= 0) return;
  pool_ = std::make_shared<ThreadPool>(threads);
  builder_.use_pool(pool_);
}

void StreamReader::attach(int stream, int descriptor, std::int64_t position, std::size_t block, std::int64_t end) {
  if (pool_ && records(stream)) {
    struct stat file;
    const std::int64_t from = position < 0 ? ::lseek(descriptor, 0, SEEK_CUR) : position;
    if (from >= 0 && ::fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
        std::min<std::int64_t>(file.st_size, end) - from > kWorthHelp * static_cast<std::int64_t>(block))
      return const_cast<RecordStream*>(records(stream))->read_ahead(pool_, descriptor, from, end, block);
  }
  files_[stream].descriptor = descriptor;
  files_[stream].position = position;
  files_[stream].end = end;
  files_[stream].block = block;
}

std::int64_t StreamReader::bytes_read(int stream) const {
  const RecordStream* ahead = records(stream);
  return files_[stream].bytes.load(std::memory_order_relaxed) + (ahead ? ahead->bytes_read_ahead() : 0);
}

void StreamReader::read_block(int stream) {
  File& file = files_[stream];
  const std::size_t size = file.position < 0 ? file.block : bytes_before(file.end, file.position, file.block);
  std::uint8_t* room = prepare(stream, size);
  ssize_t got;
  do {
    got = file.position < 0 ? ::read(file.descriptor, room, size)
                            : ::pread(file.descriptor, room, size, file.position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    InputFault fault(std::strerror(errno), 0, {});
    fault.stream = stream;
    throw fault;
  }
  if (file.position >= 0) file.position += got;
  file.bytes.fetch_add(got, std::memory_order_relaxed);
  commit(stream, static_cast<std::size_t>(got));
}

Next StreamReader::fill_from_files(std::int64_t weight) {
  for (;;) {
    const Next next = fill_from_lines(weight);
    if (next != Next::NeedQuery && next != Next::NeedTarget && next != Next::NeedMates) return next;
    const int stream = static_cast<int>(next) - static_cast<int>(Next::NeedQuery);
    if (files_[stream].descriptor < 0) return next;
    read_block(stream);
  }
}

Next StreamReader::fill(std::int64_t weight) {
  if (fault_) return Next::Failed;
  try {
    const Next next = fill_from_files(weight);
    if (!copies_later_) builder_.copy_all();
    return next;
  } catch (const InputFault& fault) {
    fault_ = std::make_unique<InputFault>(fault);
    if (!copies_later_) builder_.copy_all();
    return Next::Failed;
  }
}

}  // namespace wfacli
