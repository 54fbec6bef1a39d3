// Connection: one logged-in RESP2 connection with one absolute deadline per call.
//
// A pipelined call either brings a reply for each command or closes the connection: after a
// timeout, a protocol error or any other exit between send and last reply, a late reply can never
// answer a later command. When a call fails, all its commands have an unknown outcome.
//
// Threads: one thread at a time.
// Owns:    its socket.
// Blocks:  open() and call() up to their deadline.
// Fails:   by Trouble, never by exception; afterwards is_open() is false.
// Limits:  ReplyLimits; a call sends what the caller put into the buffer.
//
// Example:
//   CommandBuffer commands;
//   commands.add({"GET", key});
//   CallResult result = connection.call(commands, deadline);
//   if (result.trouble == Trouble::kNone) use(result.replies[0]);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/endpoint.h"
#include "cache/protocol.h"
#include "cache/socket.h"
#include "cache/url.h"
#include "safety/base/deadline.h"

namespace han::cache {

struct CallResult {
  Trouble trouble = Trouble::kNone;
  // One a command, in order; empty when there was trouble.
  std::vector<Reply> replies;
};

class Connection;

struct OpenResult {
  // Null exactly when there was trouble.
  std::unique_ptr<Connection> connection;
  Trouble trouble = Trouble::kNone;
  // Set when the trouble is kRejected.
  ErrorClass error = ErrorClass::kNone;
};

class Connection {
 public:
  // Connects (with TLS if the URL asks), logs in, selects the database if the URL asks, and sees a
  // PING answered, so that a server that only accepts is not taken for one that works; the deadline
  // counts for all of it together. `wake_fd` (< 0: none) interrupts it.
  static OpenResult open(const RedisUrl& url, const ReplyLimits& limits, safety::Deadline deadline,
                         int wake_fd = -1);
  // The same, with what the endpoint says now. A second password is tried on the same connection
  // when the first is answered with WRONGPASS.
  static OpenResult open(const RedisEndpoint& endpoint, const ReplyLimits& limits,
                         safety::Deadline deadline, int wake_fd = -1);

  // `wake_fd` (< 0: none) interrupts it, which closes the connection.
  [[nodiscard]] CallResult call(const CommandBuffer& commands, safety::Deadline deadline,
                                int wake_fd = -1);

  bool is_open() const { return socket_.is_open(); }
  // To be asked before a connection that lay idle is used: false when the peer has closed it or
  // sent bytes that nobody asked for.
  bool is_fresh();
  void close() { socket_.close(); }

  // For subscriptions, where replies come unasked. After the first send() call() must not be used.
  [[nodiscard]] Trouble send(const CommandBuffer& commands, safety::Deadline deadline);
  // Waits for one reply; kTimeout and kInterrupted leave the connection open.
  [[nodiscard]] Trouble read(Reply& reply, safety::Deadline deadline, int wake_fd);

 private:
  explicit Connection(const ReplyLimits& limits) : limits_(limits), reader_(limits) {}
  Trouble exchange(const CommandBuffer& commands, safety::Deadline deadline, int wake_fd,
                   std::vector<Reply>& replies);
  Trouble receive_some(std::uint64_t& received);
  Trouble take_replies(std::size_t wanted, std::vector<Reply>& replies);
  static OpenResult open(std::span<const RedisUrl> candidates, const ReplyLimits& limits,
                         safety::Deadline deadline, int wake_fd);
  ErrorClass shake_hands(const RedisUrl& url, safety::Deadline deadline, int wake_fd,
                         Trouble& trouble);

  ReplyLimits limits_;
  Socket socket_;
  ReplyReader reader_;
  bool is_stream_ = false;
  std::vector<char> block_;
};

}  // namespace han::cache
