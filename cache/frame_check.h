// FrameCheck: reads the length headers of a RESP2 stream before the parser sees them.
//
// hiredis 0.14 allocates what an array header claims (`*4294967295`), newer ones do not bound
// depth. The check refuses such headers, and takes values over the limit out of the stream: they
// are dropped while they arrive and an error reply stands in their place, so that one oversized
// value costs neither memory nor the connection. Source: the RESP2 specification of redis.io.
//
// Threads: one thread at a time.
// Blocks:  never.
// Fails:   check() returns false; the stream is worth nothing afterwards.
// Limits:  those of ReplyLimits; memory of its own is constant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace han::cache {

struct ReplyLimits {
  // A longer value is dropped and answered as ErrorClass::kOversized.
  std::size_t value_bytes_max = 128 * 1024;
  // A value longer than this is a protocol error.
  std::size_t dropped_bytes_max = std::size_t{64} << 20;
  // Of all arrays of one reply together.
  std::size_t elements_max = 16 * 1024;
  // Bytes of all replies of one call.
  std::size_t call_bytes_max = std::size_t{64} << 20;
};

// The error text that stands in for a dropped value.
inline constexpr std::string_view kOversizedError = "OVERSIZED";

class FrameCheck {
 public:
  // hiredis 0.14 knows seven levels below the top.
  static constexpr std::size_t kDepthMax = 7;
  static constexpr std::size_t kLineBytesMax = 4096;

  explicit FrameCheck(const ReplyLimits& limits) : limits_(limits) {}

  // Appends to `checked` the bytes that may be parsed. False: not RESP2 or over a limit.
  [[nodiscard]] bool check(std::string_view bytes, std::string& checked);
  // Whole replies seen so far.
  std::uint64_t reply_count() const { return reply_count_; }
  // True between two replies.
  bool is_at_boundary() const { return state_ == State::kType && depth_ == 0; }

 private:
  enum class State { kType, kLine, kPayload, kDropped };

  bool end_of_line(std::string& checked);
  bool start_bulk(std::int64_t size, std::string& checked);
  bool start_array(std::int64_t size);
  void end_of_item();
  bool take_payload(std::string_view& bytes, std::string& checked);

  ReplyLimits limits_;
  State state_ = State::kType;
  // The header or line that is arriving, type byte and CR included.
  std::string line_;
  std::size_t payload_left_ = 0;
  // The last two bytes of the payload so far: it must end in CR LF.
  char before_last_ = 0;
  char last_ = 0;
  std::array<std::uint64_t, kDepthMax + 1> items_left_{};
  std::size_t depth_ = 0;
  std::size_t elements_ = 0;
  std::uint64_t reply_count_ = 0;
};

}  // namespace han::cache
