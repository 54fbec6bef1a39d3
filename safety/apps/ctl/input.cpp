#include "safety/apps/ctl/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "safety/apps/ctl/failure.h"

namespace han::safety {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
constexpr std::size_t kDiscardBytesMax = std::size_t{64} << 20;
constexpr std::size_t kKeptOfLongLine = 256;

[[noreturn]] void fail_reading(int error) {
  throw Failure(ExitCode::kFailure,
                "the input cannot be read (" + std::generic_category().message(error) + ")",
                "give the path of a readable file, or - for standard input");
}

std::size_t read_some(int fd, char* into, std::size_t size) {
  while (true) {
    const ssize_t count = ::read(fd, into, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) {
      pollfd entry{fd, POLLIN, 0};
      ::poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      fail_reading(errno);
    }
  }
}

}  // namespace

Input Input::open(const std::string& path) {
  if (path == "-") return {STDIN_FILENO, false, 0};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail_reading(errno);
  Input input(fd, true, 0);
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail_reading(errno);
  if (S_ISDIR(info.st_mode)) fail_reading(EISDIR);
  if (S_ISREG(info.st_mode)) input.size_ = static_cast<std::uint64_t>(info.st_size);
  return input;
}

Input::Input(Input&& other) noexcept
    : fd_(other.fd_), is_owned_(std::exchange(other.is_owned_, false)), size_(other.size_) {}

Input::~Input() {
  if (is_owned_) ::close(fd_);
}

std::string Input::read(std::size_t bytes_max) {
  std::string text;
  while (text.size() < bytes_max) {
    const std::size_t old_size = text.size();
    text.resize(old_size + std::min(kChunkBytes, bytes_max - old_size));
    const std::size_t count = read_some(fd_, text.data() + old_size, text.size() - old_size);
    text.resize(old_size + count);
    if (count == 0) break;
  }
  return text;
}

std::size_t Input::read_once(char* into, std::size_t size) { return read_some(fd_, into, size); }

void Input::discard_rest() {
  for (std::size_t discarded = 0; discarded < kDiscardBytesMax;) {
    const std::size_t count = read(kChunkBytes).size();
    if (count == 0) return;
    discarded += count;
  }
}

LineReader::LineReader(Input& input, std::size_t line_bytes_max)
    : input_(input), line_bytes_max_(line_bytes_max) {}

bool LineReader::may_block() const {
  return !is_at_end_ && buffer_.find('\n', scanned_) == std::string::npos;
}

bool LineReader::fill() {
  if (is_at_end_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  // What a pipe has at once is taken at once: a filter answers a line before it waits for more.
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kChunkBytes);
  const std::size_t count = input_.read_once(buffer_.data() + old_size, kChunkBytes);
  buffer_.resize(old_size + count);
  bytes_read_ += count;
  is_at_end_ = count == 0;
  return count > 0;
}

LineReader::Next LineReader::next(std::string_view& line) {
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t size = std::min(end, buffer_.size()) - begin_;
    if (size > line_bytes_max_) return skip_line(line);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, size);
      begin_ = scanned_ = end + 1;
      ++line_number_;
      return Next::kLine;
    }
    scanned_ = buffer_.size();
    if (fill()) continue;
    if (begin_ == buffer_.size()) return Next::kEnd;
    line = std::string_view(buffer_).substr(begin_);
    begin_ = scanned_ = buffer_.size();
    ++line_number_;
    return Next::kLine;
  }
}

LineReader::Next LineReader::skip_line(std::string_view& line) {
  const std::string start = buffer_.substr(begin_, kKeptOfLongLine);
  ++line_number_;
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    begin_ = scanned_ = end == std::string::npos ? buffer_.size() : end + 1;
    if (end != std::string::npos || !fill()) break;
  }
  long_line_start_ = start;
  line = long_line_start_;
  return Next::kTooLong;
}

}  // namespace han::safety
