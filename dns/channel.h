// Channel: one c-ares channel as an event source: questions in, the raw responses out.
//
// It sees each packet on its way, because c-ares keeps to itself why a question failed: that every
// server refused, or that an answer was truncated and TCP did not help.
//
// Source: c-ares' documentation (ares_init_options, ares_query, ares_set_socket_functions).
//
// Threads: one thread at a time.
// Owns:    the channel and its sockets.
// Blocks:  never.
// Fails:   the constructor throws std::invalid_argument for servers that are none,
//          std::runtime_error when c-ares cannot be set up; later failures are replies.
// Limits:  the caller bounds the questions under way.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "dns/answer.h"
#include "safety/base/clock.h"

struct ares_channeldata;

namespace han::dns {

struct ChannelOptions {
  // As in ResolverOptions.
  std::vector<std::string> servers;
  std::string resolv_conf;
  std::uint16_t resolv_conf_port = 53;
  std::chrono::milliseconds timeout{1000};
  int tries = 2;
};

// What channels have sent; may be read by other threads.
struct ChannelTraffic {
  // Packets over UDP, repeated ones included.
  std::atomic<std::uint64_t> queries_sent{0};
  std::atomic<std::uint64_t> tcp_connections{0};
};

// True for an address, with or without a port, as `servers` holds them.
bool is_server(const std::string& text);

class Channel {
 public:
  // A response, valid during the call, or why there is none.
  using Reply = std::variant<std::span<const std::uint8_t>, Failure>;
  // May be called inside of any other member function; must not call the channel.
  using OnReply = std::function<void(const Question&, const Reply&)>;

  // `traffic` must outlive the channel.
  Channel(const ChannelOptions& options, ChannelTraffic& traffic, OnReply on_reply);
  // Questions under way are replied with kStopped.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Each question is replied to once. One that is under way must not be asked again.
  void ask(const Question& question);
  bool is_idle() const { return pending_.empty() && again_.empty(); }

  // What to wait for, and how long at most.
  void add_poll_items(std::vector<pollfd>& items) const;
  std::optional<std::chrono::milliseconds> time_left() const;
  // `items` after poll(2); those of others are passed over.
  void process(std::span<const pollfd> items);

 private:
  struct Pending {
    Channel* channel = nullptr;
    Question question;
    // Of the packets sent for it, the first few.
    std::vector<std::uint16_t> ids;
    // What its packets said so far, for the case that no answer is reached.
    bool is_truncated = false;
    bool is_malformed = false;
    std::optional<Failure> refusal;
    std::uint64_t streams_closed = 0;
    int repeats = 0;
  };
  struct Stream {
    // The server's address as the kernel takes it.
    std::string peer;
    // What is no whole message yet.
    std::vector<std::uint8_t> held;
    bool has_spoken = false;
  };
  struct Hooks;

  void send(Pending& pending);
  void reply(Pending& pending, int status, std::span<const std::uint8_t> response);
  // What its own packets said.
  static std::optional<Failure> own_failure(const Pending& pending);
  Pending* find(std::span<const std::uint8_t> packet);
  void see_sent(std::span<const std::uint8_t> packet);
  // False: the server refused a moment ago.
  bool may_connect(int fd, std::string peer);
  void see_broken(int fd);
  void see_received(int fd, std::span<const std::uint8_t> bytes);
  void see_response(std::span<const std::uint8_t> packet);

  ChannelTraffic& traffic_;
  OnReply on_reply_;
  ares_channeldata* channel_ = nullptr;
  std::map<Question, Pending> pending_;
  // To be sent once more.
  std::vector<std::map<Question, Pending>::node_type> again_;
  // poll(2) events by descriptor.
  std::map<int, short> watched_;
  // By descriptor.
  std::unordered_map<int, Stream> streams_;
  // Servers that would not speak over TCP, by address, and until when they are not tried again.
  std::map<std::string, safety::Clock::SteadyTime> refusing_;
  std::uint64_t streams_closed_ = 0;
};

}  // namespace han::dns
