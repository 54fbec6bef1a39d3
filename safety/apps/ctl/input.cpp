#include "safety/apps/ctl/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "safety/apps/ctl/failure.h"

namespace han::safety {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
constexpr std::size_t kDiscardBytesMax = std::size_t{64} << 20;

[[noreturn]] void fail_reading(int error) {
  throw Failure(ExitCode::kFailure,
                "the input cannot be read (" + std::generic_category().message(error) + ")",
                "give the path of a readable file, or - for standard input");
}

// False when `end_fd` can be read.
bool wait_readable(int fd, int end_fd) {
  std::array<pollfd, 2> entries{{{fd, POLLIN, 0}, {end_fd, POLLIN, 0}}};
  while (::poll(entries.data(), entries.size(), -1) < 0) {
    if (errno != EINTR) fail_reading(errno);
  }
  return entries[1].revents == 0;
}

std::size_t read_some(int fd, int end_fd, char* into, std::size_t size) {
  while (true) {
    if (end_fd >= 0 && !wait_readable(fd, end_fd)) return 0;
    const ssize_t count = ::read(fd, into, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) {
      wait_readable(fd, -1);
    } else if (errno != EINTR) {
      fail_reading(errno);
    }
  }
}

}  // namespace

Input Input::open(const std::string& path) {
  if (path == "-") return {STDIN_FILENO, false};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail_reading(errno);
  return {fd, true};
}

Input::Input(int fd, bool is_owned) : fd_(fd), is_owned_(is_owned) {
  struct stat info {};
  const int error = ::fstat(fd, &info) != 0 ? errno : (S_ISDIR(info.st_mode) ? EISDIR : 0);
  if (error != 0) {
    if (is_owned_) ::close(fd_);
    fail_reading(error);
  }
  if (!S_ISREG(info.st_mode)) return;
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  size_ = static_cast<std::uint64_t>(std::max<off_t>(info.st_size - std::max<off_t>(at, 0), 0));
}

Input::Input(Input&& other) noexcept
    : fd_(other.fd_),
      is_owned_(std::exchange(other.is_owned_, false)),
      end_fd_(other.end_fd_),
      size_(other.size_) {}

Input::~Input() {
  if (is_owned_) ::close(fd_);
}

std::string Input::read(std::size_t bytes_max) {
  std::string text;
  while (text.size() < bytes_max) {
    const std::size_t old_size = text.size();
    text.resize(old_size + std::min(kChunkBytes, bytes_max - old_size));
    const std::size_t count =
        read_some(fd_, end_fd_, text.data() + old_size, text.size() - old_size);
    text.resize(old_size + count);
    if (count == 0) break;
  }
  return text;
}

std::size_t Input::read_once(char* into, std::size_t size) {
  return read_some(fd_, end_fd_, into, size);
}

void Input::discard_rest() {
  for (std::size_t discarded = 0; discarded < kDiscardBytesMax;) {
    const std::size_t count = read(kChunkBytes).size();
    if (count == 0) return;
    discarded += count;
  }
}

LineReader::LineReader(Input& input, std::size_t line_bytes_max, std::size_t skip_bytes_max)
    : input_(input), line_bytes_max_(line_bytes_max), skip_bytes_max_(skip_bytes_max) {}

bool LineReader::may_block() const {
  if (is_at_end_) return false;
  return is_in_long_line_ || buffer_.find('\n', scanned_) == std::string::npos;
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
  if (is_in_long_line_) skip_long_line();
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t size = std::min(end, buffer_.size()) - begin_;
    if (size > line_bytes_max_) {
      line = std::string_view(buffer_).substr(begin_, line_bytes_max_);
      is_in_long_line_ = true;
      ++line_number_;
      return Next::kTooLong;
    }
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

void LineReader::skip_long_line() {
  is_in_long_line_ = false;
  for (std::size_t skipped = 0;;) {
    const std::size_t end = buffer_.find('\n', scanned_);
    skipped += std::min(end, buffer_.size()) - begin_;
    begin_ = scanned_ = end == std::string::npos ? buffer_.size() : end + 1;
    if (end != std::string::npos) return;
    if (skipped > skip_bytes_max_) {
      throw Failure(ExitCode::kFailure,
                    "line " + std::to_string(line_number_) + " of the input does not end",
                    "end each line with a line feed");
    }
    if (!fill()) return;
  }
}

}  // namespace han::safety
