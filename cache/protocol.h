// CommandBuffer and ReplyReader: RESP2 out and in, over hiredis' formatter and parser.
//
// This is the only file pair that knows hiredis. Only two parts of it are used, which behave alike
// in 0.14 and 1.2; its own connection (timeouts per read, stale replies after an error) is not.
//
// Threads: one thread at a time each.
// Blocks:  never.
// Fails:   ReplyReader by kBroken: the stream is not RESP2 or is over a limit; nothing that was
// read
//          after the last good reply is worth anything.
// Limits:  ReplyLimits.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cache/frame_check.h"
#include "cache/reply.h"

namespace han::cache {

class CommandBuffer {
 public:
  void add(std::span<const std::string_view> arguments);
  void add(std::initializer_list<std::string_view> arguments) {
    add(std::span<const std::string_view>(arguments.begin(), arguments.size()));
  }
  std::size_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

class ReplyReader {
 public:
  enum class Outcome { kReply, kNeedsMore, kBroken };

  explicit ReplyReader(const ReplyLimits& limits = {});
  ~ReplyReader();
  ReplyReader(ReplyReader&&) noexcept;
  ReplyReader& operator=(ReplyReader&&) noexcept;

  // False: broken, now and for ever.
  [[nodiscard]] bool feed(std::string_view bytes);
  // Moves the next whole reply into `reply`.
  [[nodiscard]] Outcome next(Reply& reply);
  // True when no byte of a further reply has been fed.
  bool is_drained() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace han::cache
