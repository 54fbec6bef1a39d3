#include "cache/connection.h"

#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

// Closes the socket unless the work that was begun came to its end.
class CloseGuard {
 public:
  explicit CloseGuard(Socket& socket) : socket_(socket) {}
  ~CloseGuard() {
    if (!is_complete_) socket_.close();
  }
  CloseGuard(const CloseGuard&) = delete;
  CloseGuard& operator=(const CloseGuard&) = delete;
  void complete() { is_complete_ = true; }

 private:
  Socket& socket_;
  bool is_complete_ = false;
};

}  // namespace

OpenResult Connection::open(const RedisUrl& url, const ReplyLimits& limits,
                            safety::Deadline deadline, int wake_fd) {
  return open(std::span(&url, 1), limits, deadline, wake_fd);
}

OpenResult Connection::open(const RedisEndpoint& endpoint, const ReplyLimits& limits,
                            safety::Deadline deadline, int wake_fd) {
  std::vector<RedisUrl> candidates;
  try {
    candidates = endpoint.read();
  } catch (const UrlError&) {
    return {nullptr, Trouble::kEndpoint, ErrorClass::kNone};
  }
  return open(candidates, limits, deadline, wake_fd);
}

OpenResult Connection::open(std::span<const RedisUrl> candidates, const ReplyLimits& limits,
                            safety::Deadline deadline, int wake_fd) {
  OpenResult result;
  std::unique_ptr<Connection> connection(new Connection(limits));
  result.trouble = connection->socket_.open(candidates.front(), deadline, wake_fd);
  if (result.trouble != Trouble::kNone) return result;
  for (const RedisUrl& url : candidates) {
    result.error = connection->shake_hands(url, deadline, wake_fd, result.trouble);
    if (result.error != ErrorClass::kWrongpass) break;
  }
  if (result.trouble == Trouble::kNone) result.connection = std::move(connection);
  return result;
}

ErrorClass Connection::shake_hands(const RedisUrl& url, safety::Deadline deadline, int wake_fd,
                                   Trouble& trouble) {
  CommandBuffer commands;
  if (!url.user.empty()) {
    commands.add({"AUTH", url.user, url.password});
  } else if (!url.password.empty()) {
    commands.add({"AUTH", url.password});
  }
  if (url.database) commands.add({"SELECT", std::to_string(*url.database)});
  commands.add({"PING"});
  std::vector<Reply> replies;
  trouble = exchange(commands, deadline, wake_fd, replies);
  for (const Reply& reply : replies) {
    if (!reply.is_error()) continue;
    trouble = Trouble::kRejected;
    return reply.error;
  }
  return ErrorClass::kNone;
}

CallResult Connection::call(const CommandBuffer& commands, safety::Deadline deadline, int wake_fd) {
  CallResult result;
  result.trouble = exchange(commands, deadline, wake_fd, result.replies);
  if (result.trouble != Trouble::kNone) result.replies.clear();
  return result;
}

// Reads while it writes: a server whose answers nobody takes stops reading, and both would wait.
Trouble Connection::exchange(const CommandBuffer& commands, safety::Deadline deadline, int wake_fd,
                             std::vector<Reply>& replies) {
  SAFETY_CHECK(!is_stream_);
  if (!socket_.is_open()) return Trouble::kClosed;
  CloseGuard guard(socket_);
  replies.reserve(commands.count());
  std::string_view unsent = commands.bytes();
  std::uint64_t received = 0;
  while (true) {
    if (!unsent.empty()) {
      const auto sent = socket_.send(unsent);
      if (sent.trouble != Trouble::kNone) return sent.trouble;
      unsent.remove_prefix(sent.bytes);
    }
    Trouble trouble = take_replies(commands.count(), replies);
    if (trouble != Trouble::kNone) return trouble;
    if (unsent.empty() && replies.size() == commands.count()) break;
    const auto interest =
        unsent.empty() ? Socket::Interest::kRead : Socket::Interest::kReadAndWrite;
    // Also when bytes keep coming: a server that drips must not hold the caller.
    if (deadline.has_passed()) return Trouble::kTimeout;
    trouble = socket_.wait(interest, deadline, wake_fd);
    if (trouble != Trouble::kNone) return trouble;
    trouble = receive_some(received);
    if (trouble != Trouble::kNone) return trouble;
  }
  // A byte too many is a reply to nothing.
  if (!reader_.is_drained()) return Trouble::kProtocol;
  guard.complete();
  return Trouble::kNone;
}

Trouble Connection::receive_some(std::uint64_t& received) {
  block_.resize(kBlockBytes);
  const auto got = socket_.receive(block_.data(), block_.size());
  if (got.trouble != Trouble::kNone) return got.trouble;
  received += got.bytes;
  if (received > limits_.call_bytes_max) return Trouble::kProtocol;
  return reader_.feed({block_.data(), got.bytes}) ? Trouble::kNone : Trouble::kProtocol;
}

Trouble Connection::take_replies(std::size_t wanted, std::vector<Reply>& replies) {
  while (replies.size() < wanted) {
    Reply reply;
    switch (reader_.next(reply)) {
      case ReplyReader::Outcome::kReply:
        replies.push_back(std::move(reply));
        break;
      case ReplyReader::Outcome::kNeedsMore:
        return Trouble::kNone;
      case ReplyReader::Outcome::kBroken:
        return Trouble::kProtocol;
    }
  }
  return Trouble::kNone;
}

bool Connection::is_fresh() { return reader_.is_drained() && socket_.is_quiet(); }

Trouble Connection::send(const CommandBuffer& commands, safety::Deadline deadline) {
  is_stream_ = true;
  if (!socket_.is_open()) return Trouble::kClosed;
  CloseGuard guard(socket_);
  std::string_view unsent = commands.bytes();
  while (true) {
    const auto sent = socket_.send(unsent);
    if (sent.trouble != Trouble::kNone) return sent.trouble;
    unsent.remove_prefix(sent.bytes);
    if (unsent.empty()) break;
    if (deadline.has_passed()) return Trouble::kTimeout;
    constexpr int kNoWake = -1;
    const Trouble trouble = socket_.wait(Socket::Interest::kReadAndWrite, deadline, kNoWake);
    if (trouble != Trouble::kNone) return trouble;
    // What arrives meanwhile is kept for read(), so that the wait does not spin on it.
    std::uint64_t received = 0;
    if (const auto read = receive_some(received); read != Trouble::kNone) return read;
  }
  guard.complete();
  return Trouble::kNone;
}

Trouble Connection::read(Reply& reply, safety::Deadline deadline, int wake_fd) {
  if (!socket_.is_open()) return Trouble::kClosed;
  while (true) {
    Trouble trouble = Trouble::kProtocol;
    switch (reader_.next(reply)) {
      case ReplyReader::Outcome::kReply:
        return Trouble::kNone;
      case ReplyReader::Outcome::kNeedsMore:
        trouble = socket_.wait(Socket::Interest::kRead, deadline, wake_fd);
        if (trouble == Trouble::kTimeout || trouble == Trouble::kInterrupted) return trouble;
        break;
      case ReplyReader::Outcome::kBroken:
        break;
    }
    std::uint64_t received = 0;
    if (trouble == Trouble::kNone) trouble = receive_some(received);
    if (trouble != Trouble::kNone) {
      socket_.close();
      return trouble;
    }
    if (deadline.has_passed() && reader_.is_drained()) return Trouble::kTimeout;
  }
}

}  // namespace han::cache
