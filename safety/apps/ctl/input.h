// Input: standard input or a file, read in bounded memory.
//
// Threads: one thread at a time.
// Blocks:  while the writer of a pipe does not write.
// Fails:   Failure, which never names the file: its name may be a user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace han::safety {

// Owns: the descriptor, unless it is standard input.
class Input {
 public:
  // "-" is standard input. A folder is refused.
  static Input open(const std::string& path);

  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  // At most `bytes_max` more bytes; fewer only at the end.
  std::string read(std::size_t bytes_max);
  // Reads what is left and forgets it, so that a writer that waits for nothing else can end; gives
  // up after 64 MiB.
  void discard_rest();
  // What is there at once, at least one byte; 0 only at the end.
  std::size_t read_once(char* into, std::size_t size);
  // From now on the input also ends when `fd` can be read (see StopSignal).
  void end_on(int fd) { end_fd_ = fd; }
  // What a regular file still holds, also as standard input, else 0.
  std::uint64_t size() const { return size_; }

 private:
  Input(int fd, bool is_owned);

  int fd_;
  bool is_owned_;
  int end_fd_ = -1;
  std::uint64_t size_ = 0;
};

// Lines of an input. A last line without an end counts; after the last end there is none.
// Limits: lines of `line_bytes_max` bytes. A longer one is told as soon as it is seen to be, before
//         its end was read, and the next call skips `skip_bytes_max` bytes of it; more: Failure.
class LineReader {
 public:
  enum class Next { kLine, kTooLong, kEnd };

  static constexpr std::size_t kSkipBytesMax = std::size_t{256} << 20;

  LineReader(Input& input, std::size_t line_bytes_max, std::size_t skip_bytes_max = kSkipBytesMax);

  // `line` is valid until the next call, without its end; kTooLong: the first bytes of the line.
  Next next(std::string_view& line);
  // True when the next call may wait for the writer: then show first what is ready.
  bool may_block() const;
  std::uint64_t line_number() const { return line_number_; }  // of the last line, from 1
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  bool fill();
  void skip_long_line();

  Input& input_;
  const std::size_t line_bytes_max_;
  const std::size_t skip_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of what was not given out yet
  std::size_t scanned_ = 0;  // no line end in [begin_, scanned_)
  bool is_at_end_ = false;
  bool is_in_long_line_ = false;
  std::uint64_t line_number_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace han::safety
