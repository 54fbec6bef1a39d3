// HintSender: tells the workers over Redis that tasks wait, when Redis is there.
//
// A hint that is lost costs one poll interval of a worker (SPEC I6), so nothing here is an error:
// what became of the hints is only said.
//
// Threads: one thread at a time. Owns: a publisher with its thread.
// Blocks:  the first send() at most 500 ms for the connection; finish() for a running PUBLISH.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "cache/endpoint.h"
#include "cache/wakeup.h"

namespace han::safety {

class HintSender {
 public:
  // Connects in the background to the worker's Redis, as its environment variables name it; without
  // them nothing is sent.
  explicit HintSender(const cache::RedisEndpoint::Environment& environment);

  void send(std::size_t tasks_ready);
  // "sent", "lost" (at least one), "none" (there was nothing to say), "off" (no address) or
  // "bad_url". Nothing is sent afterwards.
  std::string_view finish();

 private:
  std::unique_ptr<cache::WakeupPublisher> publisher_;
  bool is_bad_url_ = false;
  bool has_waited_ = false;
};

}  // namespace han::safety
