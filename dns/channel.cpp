#include "dns/channel.h"

// The functions that both c-ares 1.18 and 1.34 have; the newer one would rather see others.
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "dns/message.h"
#include "safety/base/ip_address.h"

namespace han::dns {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr int kClassIn = 1;
constexpr int kTypeA = 1;
constexpr int kTypeAaaa = 28;
// Fits the path of any network, so that no answer is fragmented (DNS Flag Day 2020).
constexpr int kUdpPayload = 1232;
constexpr int kRepeatsMax = 3;
constexpr std::chrono::seconds kRefusalLife{2};
constexpr std::size_t kIdsMax = 8;
constexpr std::string_view kDefaultPort = "53";

// "192.0.2.1:53" or "[2001:db8::1]:53", as c-ares takes it.
std::string checked_server(const std::string& text) {
  const auto refused = [] {
    return std::invalid_argument("a DNS server is no address with or without a port");
  };
  std::string_view address = text;
  std::string_view port = kDefaultPort;
  const bool is_bracketed = address.starts_with('[');
  const std::size_t close = address.find(']');
  if (is_bracketed && close == std::string_view::npos) throw refused();
  const std::size_t colon = is_bracketed ? close + 1 : address.find(':');
  const bool has_port = colon < address.size() && (is_bracketed || address.rfind(':') == colon);
  if (has_port) {
    if (address[colon] != ':') throw refused();
    port = address.substr(colon + 1);
    address = address.substr(0, colon);
  }
  if (is_bracketed) address = address.substr(1, close - 1);
  const bool is_number = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string_view::npos;
  constexpr int kPortMax = 65535;
  const int number = is_number ? std::stoi(std::string(port)) : 0;
  const auto parsed = safety::IpAddress::parse(address);
  const bool is_whole = parsed && number >= 1 && number <= kPortMax;
  if (!is_whole || (is_bracketed && parsed->is_v4())) throw refused();
  std::string out = parsed->is_v4() ? "" : "[";
  out += parsed->str();
  out += parsed->is_v4() ? ":" : "]:";
  out += std::to_string(number);
  return out;
}

std::string joined(const std::vector<std::string>& servers) {
  std::string out;
  for (const std::string& server : servers) {
    if (!out.empty()) out += ',';
    out += checked_server(server);
  }
  return out;
}

bool has_id(const std::vector<std::uint16_t>& ids, std::uint16_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Failure failure_of(int status) {
  switch (status) {
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
      return Failure::kStopped;
    case ARES_ETIMEOUT:
      return Failure::kTimeout;
    case ARES_EREFUSED:
      return Failure::kRefused;
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
      return Failure::kMalformed;
    case ARES_ENOMEM:
      return Failure::kOverload;
    case ARES_EBADRESP:  // perhaps another question's; see reply()
    case ARES_ESERVFAIL:
    case ARES_ENOTIMP:
    case ARES_EFORMERR:
      return Failure::kServfail;
    default:
      return Failure::kUnreachable;
  }
}

// What a server says that did not look for an answer.
std::optional<Failure> refusal_of(Rcode rcode) {
  if (rcode == Rcode::kRefused) return Failure::kRefused;
  if (rcode == Rcode::kServFail || rcode == Rcode::kNotImp) return Failure::kServfail;
  return std::nullopt;
}

void start_library() {
  static const int kStatus = ares_library_init(ARES_LIB_INIT_ALL);
  if (kStatus != ARES_SUCCESS) throw std::runtime_error("c-ares does not start");
#ifndef ARES_OPT_QUERY_CACHE
  // From 1.31 it has a cache, which only a program that was built with it can switch off.
  constexpr int kFirstWithCache = 0x011F00;
  int version = 0;
  ares_version(&version);
  if (version >= kFirstWithCache) {
    throw std::runtime_error("c-ares is newer than the one this program was built with: rebuild");
  }
#endif
}

}  // namespace

bool is_server(const std::string& text) {
  try {
    checked_server(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// What c-ares calls; `data` is the Channel, or the Pending of a question.
struct Channel::Hooks {
  static Channel& channel(void* data) { return *static_cast<Channel*>(data); }

  static void on_socket_state(void* data, ares_socket_t fd, int can_read, int can_write) {
    auto& watched = channel(data).watched_;
    const int events = (can_read != 0 ? POLLIN : 0) | (can_write != 0 ? POLLOUT : 0);
    if (events == 0) {
      watched.erase(fd);
    } else {
      watched[fd] = static_cast<short>(events);
    }
  }

  static void on_reply(void* data, int status, int, unsigned char* bytes, int size) {
    auto& pending = *static_cast<Pending*>(data);
    const bool has_response = bytes != nullptr && size > 0;
    pending.channel->reply(pending, status,
                           has_response ? Bytes(bytes, static_cast<std::size_t>(size)) : Bytes());
  }

  static ares_socket_t open(int domain, int type, int protocol, void* data) {
    const int fd = ::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (fd < 0 || type != SOCK_STREAM) return fd;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ++channel(data).traffic_.tcp_connections;
    channel(data).streams_[fd];
    return fd;
  }

  static int close(ares_socket_t fd, void* data) {
    channel(data).streams_closed_ += channel(data).streams_.erase(fd);
    return ::close(fd);
  }

  static int connect(ares_socket_t fd, const sockaddr* address, socklen_t size, void* data) {
    const auto* bytes = reinterpret_cast<const char*>(address);
    if (!channel(data).may_connect(fd, std::string(bytes, size))) {
      errno = ECONNREFUSED;
      return -1;
    }
    return ::connect(fd, address, size);
  }

  static bool is_broken(ssize_t result) {
    const bool is_waiting = errno == EAGAIN || errno == EINTR || errno == EINPROGRESS;
    return result == 0 || (result < 0 && !is_waiting);
  }

  static ares_ssize_t receive(ares_socket_t fd, void* buffer, std::size_t size, int flags,
                              sockaddr* address, socklen_t* address_size, void* data) {
    const auto got = ::recvfrom(fd, buffer, size, flags, address, address_size);
    const int error = errno;
    if (got > 0) {
      const auto* bytes = static_cast<const std::uint8_t*>(buffer);
      channel(data).see_received(fd, {bytes, static_cast<std::size_t>(got)});
    } else if (is_broken(got)) {
      channel(data).see_broken(fd);
    }
    errno = error;
    return got;
  }

  static ares_ssize_t send(ares_socket_t fd, const iovec* parts, int count, void* data) {
    msghdr message{};
    // sendmsg() changes nothing there.
    message.msg_iov = const_cast<iovec*>(parts);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    message.msg_iovlen = static_cast<std::size_t>(count);
    const bool is_udp = !channel(data).streams_.contains(fd);
    if (is_udp && count == 1) {
      channel(data).see_sent({static_cast<const std::uint8_t*>(parts->iov_base), parts->iov_len});
    }
    const auto sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    const int error = errno;
    if (is_broken(sent)) channel(data).see_broken(fd);
    errno = error;
    return sent;
  }

  static constexpr ares_socket_functions kFunctions = {open, close, connect, receive, send};
};

Channel::Channel(const ChannelOptions& options, ChannelTraffic& traffic, OnReply on_reply)
    : traffic_(traffic), on_reply_(std::move(on_reply)) {
  start_library();
  const std::string servers = joined(options.servers);
  std::string resolv_conf = servers.empty() ? options.resolv_conf : "/dev/null";
  std::string lookups = "b";
  ares_options set{};
  set.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS;
  set.timeout = static_cast<int>(options.timeout.count());
  set.tries = options.tries;
  set.ndots = 0;
  set.udp_port = options.resolv_conf_port;
  set.tcp_port = options.resolv_conf_port;
  set.lookups = lookups.data();
  set.sock_state_cb = Hooks::on_socket_state;
  set.sock_state_cb_data = this;
  set.ednspsz = kUdpPayload;
  set.resolvconf_path = resolv_conf.data();
  int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
             ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB |
             ARES_OPT_EDNSPSZ | ARES_OPT_RESOLVCONF | ARES_OPT_NOROTATE;
#ifdef ARES_OPT_QUERY_CACHE
  // It is on by default and keeps negative answers for too long.
  set.qcache_max_ttl = 0;
  mask |= ARES_OPT_QUERY_CACHE;
#endif
  if (ares_init_options(&channel_, &set, mask) != ARES_SUCCESS) {
    throw std::runtime_error("c-ares makes no channel");
  }
  ares_set_socket_functions(channel_, &Hooks::kFunctions, this);
  if (!servers.empty() && ares_set_servers_ports_csv(channel_, servers.c_str()) != ARES_SUCCESS) {
    ares_destroy(channel_);
    throw std::invalid_argument("c-ares takes the DNS servers for none");
  }
}

Channel::~Channel() {
  for (const auto& node : std::exchange(again_, {})) on_reply_(node.key(), Failure::kStopped);
  ares_destroy(channel_);
}

void Channel::ask(const Question& question) {
  const auto [place, is_new] = pending_.try_emplace(question);
  if (!is_new) return;
  Pending& pending = place->second;
  pending.channel = this;
  pending.question = question;
  send(pending);
}

void Channel::send(Pending& pending) {
  pending.streams_closed = streams_closed_;
  std::string rooted = pending.question.host;
  rooted += '.';
  const int type = pending.question.type == RecordType::kA ? kTypeA : kTypeAaaa;
  ares_query(channel_, rooted.c_str(), kClassIn, type, Hooks::on_reply, &pending);
}

void Channel::reply(Pending& pending, int status, Bytes response) {
  // The question may be asked again from now on.
  auto node = pending_.extract(pending.question);
  // c-ares 1.34 hands out responses that are refusals, too.
  const auto head = parse_head(response);
  if (!response.empty() && !(head && refusal_of(head->rcode))) {
    on_reply_(node.key(), response);
    return;
  }
  const Failure failure = failure_of(status);
  const auto own = own_failure(pending);
  // Two failures may be those of other questions: c-ares 1.18 gives up all questions to a server
  // when a connection to it breaks, 1.34 all those of a socket when a response is malformed.
  const bool has_lost_stream = pending.streams_closed != streams_closed_;
  const bool is_side_effect =
      !own && (status == ARES_EBADRESP || (failure == Failure::kUnreachable && has_lost_stream));
  if (is_side_effect && pending.repeats++ < kRepeatsMax) {
    again_.push_back(std::move(node));
    return;
  }
  const bool is_stopped = failure == Failure::kStopped;
  on_reply_(node.key(), is_stopped ? failure : own.value_or(failure));
}

std::optional<Failure> Channel::own_failure(const Pending& pending) {
  if (pending.is_truncated) return Failure::kTruncated;
  if (pending.refusal) return pending.refusal;
  if (pending.is_malformed) return Failure::kMalformed;
  return std::nullopt;
}

Channel::Pending* Channel::find(Bytes packet) {
  const auto head = parse_head(packet);
  if (!head || !head->question) return nullptr;
  const auto place = pending_.find(*head->question);
  return place == pending_.end() ? nullptr : &place->second;
}

void Channel::see_sent(Bytes packet) {
  ++traffic_.queries_sent;
  Pending* pending = find(packet);
  if (pending == nullptr) return;
  const std::uint16_t id = parse_head(packet)->id;
  const bool is_known = has_id(pending->ids, id);
  if (!is_known && pending->ids.size() < kIdsMax) pending->ids.push_back(id);
}

bool Channel::may_connect(int fd, std::string peer) {
  const auto stream = streams_.find(fd);
  if (stream == streams_.end()) return true;
  const auto refusing = refusing_.find(peer);
  if (refusing != refusing_.end()) {
    if (safety::system_clock().now() < refusing->second) return false;
    refusing_.erase(refusing);
  }
  stream->second.peer = std::move(peer);
  return true;
}

// Each broken connection costs c-ares 1.18 all questions to its server, one that is refused at once
// only the question that wanted it.
void Channel::see_broken(int fd) {
  const auto stream = streams_.find(fd);
  if (stream == streams_.end() || stream->second.has_spoken) return;
  refusing_[stream->second.peer] = safety::system_clock().now() + kRefusalLife;
}

void Channel::see_received(int fd, Bytes bytes) {
  const auto stream = streams_.find(fd);
  if (stream == streams_.end()) {
    see_response(bytes);
    return;
  }
  // RFC 1035 section 4.2.2: each message follows its length.
  stream->second.has_spoken = true;
  std::vector<std::uint8_t>& held = stream->second.held;
  held.insert(held.end(), bytes.begin(), bytes.end());
  constexpr std::size_t kLengthBytes = 2;
  Bytes left(held);
  while (left.size() >= kLengthBytes) {
    const std::size_t size = static_cast<std::size_t>(left[0]) << 8 | left[1];
    if (left.size() < kLengthBytes + size) break;
    see_response(left.subspan(kLengthBytes, size));
    left = left.subspan(kLengthBytes + size);
  }
  // Once for all messages, which may be many and empty.
  held.erase(held.begin(), held.end() - static_cast<std::ptrdiff_t>(left.size()));
}

void Channel::see_response(Bytes packet) {
  Pending* pending = find(packet);
  if (pending == nullptr) return;
  const MessageHead head = *parse_head(packet);
  if (!head.is_response || !has_id(pending->ids, head.id)) return;
  if (head.is_truncated) pending->is_truncated = true;
  if (const auto refusal = refusal_of(head.rcode)) pending->refusal = refusal;
  if (!parse_message(packet)) pending->is_malformed = true;
}

void Channel::add_poll_items(std::vector<pollfd>& items) const {
  for (const auto& [fd, events] : watched_) items.push_back({fd, events, 0});
}

std::optional<std::chrono::milliseconds> Channel::time_left() const {
  if (!again_.empty()) return std::chrono::milliseconds(0);
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) == nullptr) return std::nullopt;
  // Rounded up, so that a wait does not end just before the time.
  return std::chrono::seconds(left.tv_sec) +
         std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(left.tv_usec));
}

void Channel::process(std::span<const pollfd> items) {
  for (const pollfd& item : items) {
    if (item.revents == 0 || !watched_.contains(item.fd)) continue;
    const bool is_broken = (item.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    const bool can_read = is_broken || (item.revents & POLLIN) != 0;
    const bool can_write = (item.revents & POLLOUT) != 0;
    ares_process_fd(channel_, can_read ? item.fd : ARES_SOCKET_BAD,
                    can_write ? item.fd : ARES_SOCKET_BAD);
  }
  ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what has timed out
  for (auto& node : std::exchange(again_, {})) {
    send(pending_.insert(std::move(node)).position->second);
  }
}

}  // namespace han::dns
