#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "cache/socket.h"
#include "cache/wake_fd.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using cache::RedisUrl;
using cache::Socket;
using cache::Trouble;
using safety::Deadline;

constexpr int kNoWake = -1;

// What the shipped default user may not: PING without a login.
constexpr const char* kPingOnly = "on nopass -@all +ping";

TEST(Socket, MovesBytesOverTcpAndUnixSockets) {
  const RedisServer server({.default_user = kPingOnly});
  for (const auto& text : {server.url(), server.unix_url()}) {
    Socket socket;
    ASSERT_EQ(socket.open(RedisUrl::parse(text), late(), kNoWake), Trouble::kNone);
    EXPECT_TRUE(socket.is_quiet());
    EXPECT_EQ(socket.send("PING\r\n").bytes, 6u);
    ASSERT_EQ(socket.wait(Socket::Interest::kRead, late(), kNoWake), Trouble::kNone);
    EXPECT_FALSE(socket.is_quiet()) << "there are unread bytes";
    std::array<char, 64> block{};
    const auto got = socket.receive(block.data(), block.size());
    EXPECT_EQ(std::string(block.data(), got.bytes), "+PONG\r\n");
    EXPECT_EQ(socket.receive(block.data(), block.size()).trouble, Trouble::kNone);
  }
}

std::set<int> open_sockets() {
  std::set<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (std::filesystem::is_socket(entry.path())) {
      open.insert(std::stoi(entry.path().filename().string()));
    }
  }
  return open;
}

// A peer that is gone without a word is noticed by the kernel too, beside the deadlines; a program
// that is started inherits nothing.
TEST(Socket, B06_TheKernelWatchesItAndNoChildInheritsIt) {
  const RedisServer server;
  const auto before = open_sockets();
  Socket socket;
  ASSERT_EQ(socket.open(RedisUrl::parse(server.url()), late(), kNoWake), Trouble::kNone);
  int found = 0;
  for (const int fd : open_sockets()) {
    const auto option = [fd](int level, int name) {
      int value = 0;
      socklen_t size = sizeof(value);
      return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
    };
    if (before.contains(fd)) continue;
    ++found;
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_GT(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
    EXPECT_LE(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
    EXPECT_LE(option(IPPROTO_TCP, TCP_KEEPIDLE), 60);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
  EXPECT_EQ(found, 1);
}

TEST(Socket, SaysWhyItCannotOpen) {
  Socket socket;
  const auto closed = "redis://127.0.0.1:" + std::to_string(free_port());
  EXPECT_EQ(socket.open(RedisUrl::parse(closed), late(), kNoWake), Trouble::kRefused);
  EXPECT_EQ(socket.open(RedisUrl::parse("unix:///nowhere/redis.sock"), late(), kNoWake),
            Trouble::kRefused);
  const auto no_name = "redis://" + std::string(300, 'x');
  EXPECT_EQ(socket.open(RedisUrl::parse(no_name), late(), kNoWake), Trouble::kNameUnknown);
  EXPECT_FALSE(socket.is_open());
}

TEST(Socket, WaitsUntilItsDeadlineOrItsWake) {
  const RedisServer server({.default_user = kPingOnly});
  Socket socket;
  ASSERT_EQ(socket.open(RedisUrl::parse(server.url()), late(), kNoWake), Trouble::kNone);
  cache::WakeFd wake;
  const auto soon = Deadline::after(std::chrono::milliseconds(1));
  EXPECT_EQ(socket.wait(Socket::Interest::kRead, soon, wake.fd()), Trouble::kTimeout);
  wake.set();
  EXPECT_EQ(socket.wait(Socket::Interest::kRead, late(), wake.fd()), Trouble::kInterrupted);
}

TEST(Socket, SurvivesAPeerThatResets) {
  const RedisServer server({.default_user = kPingOnly});
  TcpGate gate(server.port());
  Socket socket;
  const auto url = RedisUrl::parse("redis://127.0.0.1:" + std::to_string(gate.port()));
  ASSERT_EQ(socket.open(url, late(), kNoWake), Trouble::kNone);
  ASSERT_TRUE(await([&] { return gate.accepted_count() == 1; }));
  gate.set(GateMode::kReset);
  EXPECT_TRUE(await([&] { return !socket.is_quiet(); }));
  // Would end the test by SIGPIPE if it were raised.
  EXPECT_EQ(socket.send("PING\r\n").trouble, Trouble::kClosed);
}

// In a child without a handler: a signal would be its end.
TEST(Socket, B32_SendingAfterAResetRaisesNoSignal) {
  const RedisServer server;
  TcpGate gate(server.port());
  Socket socket;
  const auto url = RedisUrl::parse("redis://127.0.0.1:" + std::to_string(gate.port()));
  ASSERT_EQ(socket.open(url, late(), kNoWake), Trouble::kNone);
  ASSERT_TRUE(await([&] { return gate.accepted_count() == 1; }));
  gate.set(GateMode::kReset);
  ASSERT_TRUE(await([&] { return !socket.is_quiet(); }));
  EXPECT_EXIT(
      {
        ::signal(SIGPIPE, SIG_DFL);
        bool is_closed = true;
        for (int i = 0; i < 3; ++i) {
          is_closed = is_closed && socket.send("PING\r\n").trouble == Trouble::kClosed;
        }
        ::_exit(is_closed ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace han::tests
