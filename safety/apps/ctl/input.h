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
  // What a regular file holds, else 0.
  std::uint64_t size() const { return size_; }

 private:
  Input(int fd, bool is_owned, std::uint64_t size) : fd_(fd), is_owned_(is_owned), size_(size) {}

  int fd_;
  bool is_owned_;
  std::uint64_t size_;
};

// Lines of an input. A last line without an end counts; after the last end there is none.
// Limits: lines of `line_bytes_max` bytes; of a longer one only a start is kept.
class LineReader {
 public:
  enum class Next { kLine, kTooLong, kEnd };

  LineReader(Input& input, std::size_t line_bytes_max);

  // `line` is valid until the next call, without its end; kTooLong: the first bytes of the line.
  Next next(std::string_view& line);
  // True when the next call may wait for the writer: then show first what is ready.
  bool may_block() const;
  std::uint64_t line_number() const { return line_number_; }  // of the last line, from 1
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  bool fill();
  Next skip_line(std::string_view& line);

  Input& input_;
  const std::size_t line_bytes_max_;
  std::string buffer_;
  std::string long_line_start_;
  std::size_t begin_ = 0;    // of what was not given out yet
  std::size_t scanned_ = 0;  // no line end in [begin_, scanned_)
  bool is_at_end_ = false;
  std::uint64_t line_number_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace han::safety
