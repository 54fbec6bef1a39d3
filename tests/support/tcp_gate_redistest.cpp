#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

// What the shipped default user may not: PING without a login.
constexpr const char* kPingOnly = "on nopass -@all +ping";

// A blocking client of the gate; receive() gives what came until the peer was silent or gone.
class Client {
 public:
  explicit Client(const TcpGate& gate) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(gate.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool is_connected() const { return is_connected_; }
  void send(const std::string& text) { ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }

  std::string receive(std::size_t size, int silence_ms = 10'000) {
    std::string out;
    while (out.size() < size) {
      pollfd item{fd_, POLLIN, 0};
      if (::poll(&item, 1, silence_ms) != 1) return out + "(silent)";
      char block[256];
      const auto got = ::recv(fd_, block, sizeof(block), 0);
      if (got == 0) return out + "(closed)";
      if (got < 0) return out + "(reset)";
      out.append(block, static_cast<std::size_t>(got));
    }
    return out;
  }

 private:
  int fd_;
  bool is_connected_ = false;
};

constexpr std::size_t kPongBytes = 7;

TEST(TcpGate, PassesBytesToTcpAndUnixServers) {
  const RedisServer server({.default_user = kPingOnly});
  TcpGate to_tcp(server.port());
  TcpGate to_unix(server.socket_path());
  for (const TcpGate* gate : {&to_tcp, &to_unix}) {
    Client client(*gate);
    client.send("PING\r\n");
    EXPECT_EQ(client.receive(kPongBytes), "+PONG\r\n");
    EXPECT_EQ(gate->accepted_count(), 1u);
  }
}

TEST(TcpGate, HoldsDelaysAndDrips) {
  const RedisServer server({.default_user = kPingOnly});
  TcpGate gate(server.port());
  Client client(gate);
  gate.set(GateMode::kHold);
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(1, 30), "(silent)");
  gate.set(GateSetting{.mode = GateMode::kDelay,
                       .delay_min = std::chrono::milliseconds(5),
                       .delay_max = std::chrono::milliseconds(10)});
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(kPongBytes), "+PONG\r\n");
  gate.set(GateSetting{.mode = GateMode::kDrip, .delay_max = std::chrono::milliseconds(1)});
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(kPongBytes), "+PONG\r\n");
}

TEST(TcpGate, InjectsGarbageAndCuts) {
  const RedisServer server({.default_user = kPingOnly});
  TcpGate gate(server.port());
  gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = "xyz"});
  Client client(gate);
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(3), "xyz");
  gate.set(GateSetting{.mode = GateMode::kCut, .cut_bytes = 2});
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(kPongBytes), "+P(closed)");
}

TEST(TcpGate, ResetsAndRefuses) {
  const RedisServer server({.default_user = kPingOnly});
  TcpGate gate(server.port());
  Client client(gate);
  client.send("PING\r\n");
  EXPECT_EQ(client.receive(kPongBytes), "+PONG\r\n");
  gate.set(GateMode::kReset);
  EXPECT_EQ(client.receive(1), "(reset)");
  gate.set(GateMode::kRefuse);
  EXPECT_FALSE(Client(gate).is_connected());
  gate.set(GateMode::kPass);
  Client again(gate);
  again.send("PING\r\n");
  EXPECT_EQ(again.receive(kPongBytes), "+PONG\r\n");
}

}  // namespace
}  // namespace han::tests
