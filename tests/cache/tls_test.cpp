#include "cache/tls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/temp_dir.h"
#include "tests/support/test_ca.h"

namespace han::tests {
namespace {

using cache::RedisUrl;
using cache::TlsStream;
using cache::Trouble;

// The server's side of the connection, in the same thread.
struct Server {
  Server(int fd, const CertificateFiles& files, int version_max)
      : context(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_set_min_proto_version(context, 0);
    SSL_CTX_set_max_proto_version(context, version_max);
    // Level 0 still has what is older than TLS 1.2.
    SSL_CTX_set_cipher_list(context, "DEFAULT@SECLEVEL=0");
    SSL_CTX_use_certificate_file(context, files.certificate.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM);
    ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    SSL_set_accept_state(ssl);
  }
  ~Server() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SSL_CTX* context;
  SSL* ssl = nullptr;
};

class Tls : public ::testing::Test {
 public:
  ~Tls() override {
    close_server();
    ::close(client_fd_);
  }

 protected:
  Tls() : ca_(dir_) {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    client_fd_ = pair[0];
    server_fd_ = pair[1];
  }
  void close_server() {
    if (server_fd_ >= 0) ::close(server_fd_);
    server_fd_ = -1;
  }

  // What the client makes of a server with these certificates.
  Trouble meet(const std::string& host, const CertificateFiles& files,
               int version_max = TLS1_3_VERSION) {
    RedisUrl url = RedisUrl::parse("rediss://" + host);
    url.ca_file = ca_.file();
    server_.emplace(server_fd_, files, version_max);
    client_ = TlsStream::make(client_fd_, url);
    if (client_ == nullptr) return Trouble::kEndpoint;
    constexpr int kStepsMax = 100;
    for (int i = 0; i < kStepsMax; ++i) {
      if (const auto end = client_->shake_hands()) {
        SSL_do_handshake(server_->ssl);
        return *end;
      }
      SSL_do_handshake(server_->ssl);
    }
    return Trouble::kTimeout;
  }
  Trouble meet_named(const std::string& host, const std::vector<std::string>& names) {
    return meet(host, ca_.issue("server", {.names = names}));
  }
  // Empty: none was sent.
  std::string server_name() const {
    const char* name = SSL_get_servername(server_->ssl, TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }

  TempDir dir_;
  TestCa ca_;
  int client_fd_ = -1;
  int server_fd_ = -1;
  std::optional<Server> server_;
  std::unique_ptr<TlsStream> client_;
};

TEST_F(Tls, B31_TakesAServerOfTheRightNameAndTellsItTheName) {
  EXPECT_EQ(meet_named("redis.example.test", {"DNS:redis.example.test"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "redis.example.test");
}

TEST_F(Tls, TheDotAtTheEndOfANameIsNoPartOfIt) {
  EXPECT_EQ(meet_named("redis.example.test.", {"DNS:redis.example.test"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "redis.example.test");
}

TEST_F(Tls, TakesAWildcardForOneWholeLabel) {
  EXPECT_EQ(meet_named("redis.example.test", {"DNS:*.example.test"}), Trouble::kNone);
}

TEST_F(Tls, B31_RefusesAPartOfALabelAsAWildcard) {
  EXPECT_EQ(meet_named("redis.example.test", {"DNS:r*.example.test"}), Trouble::kUntrusted);
}

TEST_F(Tls, B31_RefusesTheWrongHost) {
  EXPECT_EQ(meet_named("redis.example.test", {"DNS:other.example.test"}), Trouble::kUntrusted);
}

TEST_F(Tls, B31_ACommonNameSpeaksForNobody) {
  const auto files = ca_.issue("server", {.common_name = "redis.example.test", .names = {}});
  EXPECT_EQ(meet("redis.example.test", files), Trouble::kUntrusted);
}

TEST_F(Tls, B31_RefusesAnExpiredCertificate) {
  const auto files =
      ca_.issue("server", {.names = {"DNS:h"}, .valid_from_s = -7200, .valid_until_s = -3600});
  EXPECT_EQ(meet("h", files), Trouble::kUntrusted);
}

TEST_F(Tls, B31_RefusesACertificateOfTheFuture) {
  EXPECT_EQ(meet("h", ca_.issue("server", {.names = {"DNS:h"}, .valid_from_s = 3600})),
            Trouble::kUntrusted);
}

TEST_F(Tls, B31_RefusesASelfSignedCertificate) {
  EXPECT_EQ(meet("h", TestCa::self_signed(dir_, "server", {.names = {"DNS:h"}})),
            Trouble::kUntrusted);
}

TEST_F(Tls, B31_RefusesTheCertificateOfAnotherAuthority) {
  const TestCa other(dir_, "other");
  EXPECT_EQ(meet("h", other.issue("server", {.names = {"DNS:h"}})), Trouble::kUntrusted);
}

TEST_F(Tls, B31_AnAddressIsNeverSentAsAName) {
  EXPECT_EQ(meet_named("127.0.0.1", {"IP:127.0.0.1"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "");
}

TEST_F(Tls, B31_AnIpv6AddressIsNeverSentAsAName) {
  EXPECT_EQ(meet_named("[::1]", {"IP:::1"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "");
}

TEST_F(Tls, B31_AShortFormOfAnAddressIsAnAddress) {
  EXPECT_EQ(meet_named("127.1", {"IP:127.0.0.1"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "");
}

TEST_F(Tls, B31_AnAddressWithAZoneIsAnAddress) {
  EXPECT_EQ(meet_named("[fe80::1%lo]", {"IP:fe80::1"}), Trouble::kNone);
  EXPECT_EQ(server_name(), "");
}

TEST_F(Tls, B31_RefusesTheWrongAddress) {
  EXPECT_EQ(meet_named("127.0.0.1", {"IP:127.0.0.2"}), Trouble::kUntrusted);
}

TEST_F(Tls, B31_ANameThatLooksLikeAnAddressIsNone) {
  EXPECT_EQ(meet_named("127.0.0.1", {"DNS:127.0.0.1"}), Trouble::kUntrusted);
}

TEST_F(Tls, TakesTls12) {
  EXPECT_EQ(meet("h", ca_.issue("server", {.names = {"DNS:h"}}), TLS1_2_VERSION), Trouble::kNone);
}

TEST_F(Tls, RefusesWhatIsOlderThanTls12) {
  EXPECT_EQ(meet("h", ca_.issue("server", {.names = {"DNS:h"}}), TLS1_1_VERSION), Trouble::kTls);
}

TEST_F(Tls, AServerWithoutTlsIsNoTls) {
  RedisUrl url = RedisUrl::parse("rediss://h");
  url.ca_file = ca_.file();
  client_ = TlsStream::make(client_fd_, url);
  EXPECT_FALSE(client_->shake_hands().has_value());
  const std::string_view answer = "-ERR Protocol error\r\n";
  ASSERT_EQ(::send(server_fd_, answer.data(), answer.size(), 0),
            static_cast<ssize_t>(answer.size()));
  EXPECT_EQ(client_->shake_hands(), Trouble::kTls);
}

TEST_F(Tls, AServerThatGoesAwayDuringTheHandshakeIsClosed) {
  RedisUrl url = RedisUrl::parse("rediss://h");
  url.ca_file = ca_.file();
  client_ = TlsStream::make(client_fd_, url);
  EXPECT_FALSE(client_->shake_hands().has_value());
  close_server();
  EXPECT_EQ(client_->shake_hands(), Trouble::kClosed);
}

TEST_F(Tls, SaysThatTheAuthoritiesCannotBeRead) {
  RedisUrl url = RedisUrl::parse("rediss://h");
  url.ca_file = dir_.file("missing");
  EXPECT_EQ(TlsStream::make(client_fd_, url), nullptr);
  EXPECT_FALSE(TlsStream::is_ca_file(url.ca_file));
  std::ofstream(dir_.file("empty")) << "no certificate\n";
  EXPECT_FALSE(TlsStream::is_ca_file(dir_.file("empty")));
  EXPECT_TRUE(TlsStream::is_ca_file(ca_.file()));
}

TEST_F(Tls, TheSystemsStoreVouchesForNoTestAuthority) {
  RedisUrl url = RedisUrl::parse("rediss://h");
  server_.emplace(server_fd_, ca_.issue("server", {.names = {"DNS:h"}}), TLS1_3_VERSION);
  client_ = TlsStream::make(client_fd_, url);
  ASSERT_NE(client_, nullptr);
  EXPECT_FALSE(client_->shake_hands().has_value());
  SSL_do_handshake(server_->ssl);
  EXPECT_EQ(client_->shake_hands(), Trouble::kUntrusted);
}

TEST_F(Tls, TicketsAreSilenceAndDataIsNot) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  pollfd item{client_fd_, POLLIN, 0};
  ASSERT_EQ(::poll(&item, 1, 0), 1) << "the server sends tickets after the handshake";
  EXPECT_TRUE(client_->is_quiet());
  ASSERT_EQ(SSL_write(server_->ssl, "x", 1), 1);
  EXPECT_FALSE(client_->is_quiet());
  char byte = 0;
  EXPECT_EQ(client_->receive(&byte, 1).bytes, 1u);
  EXPECT_TRUE(client_->is_quiet());
  close_server();
  EXPECT_FALSE(client_->is_quiet());
}

TEST_F(Tls, APartOfARecordIsNoSilence) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  ASSERT_TRUE(client_->is_quiet());
  // The header of a record, alone.
  ASSERT_EQ(::send(server_fd_, "\x17\x03\x03\x00\x20", 5, 0), 5);
  EXPECT_FALSE(client_->is_quiet());
}

TEST_F(Tls, KnowsOfDecryptedBytesThatTheKernelNoLongerHas) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  ASSERT_EQ(SSL_write(server_->ssl, "two", 3), 3);
  char byte = 0;
  ASSERT_EQ(client_->receive(&byte, 1).bytes, 1u);
  pollfd item{client_fd_, POLLIN, 0};
  ASSERT_EQ(::poll(&item, 1, 0), 0);
  EXPECT_TRUE(client_->has_buffered());
  std::array<char, 16> block{};
  EXPECT_EQ(client_->receive(block.data(), block.size()).bytes, 2u);
  EXPECT_FALSE(client_->has_buffered());
}

TEST_F(Tls, ReadsSeveralFullRecordsAtOnce) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  const std::string sent(40'000, 'x');
  ASSERT_EQ(SSL_write(server_->ssl, sent.data(), static_cast<int>(sent.size())), 40'000);
  std::string block(64 * 1024, '\0');
  EXPECT_EQ(client_->receive(block.data(), block.size()).bytes, sent.size());
}

TEST_F(Tls, GoesOnAfterAFullSocketWithoutLosingAByte) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  std::string sent;
  for (int i = 0; sent.size() < 2'000'000; ++i) sent += std::to_string(i) + " ";
  std::string_view unsent = sent;
  std::string got;
  bool has_waited = false;
  while (!unsent.empty() || got.size() < sent.size()) {
    const auto step = client_->send(unsent.empty() ? " " : unsent);
    ASSERT_EQ(step.trouble, Trouble::kNone);
    if (unsent.empty()) break;
    unsent.remove_prefix(step.bytes);
    if (step.bytes > 0) continue;
    has_waited = true;
    EXPECT_TRUE(client_->wants_write());
    std::array<char, 16 * 1024> block{};
    int count = 0;
    while ((count = SSL_read(server_->ssl, block.data(), static_cast<int>(block.size()))) > 0) {
      got.append(block.data(), static_cast<std::size_t>(count));
    }
  }
  std::array<char, 16 * 1024> block{};
  int count = 0;
  while ((count = SSL_read(server_->ssl, block.data(), static_cast<int>(block.size()))) > 0) {
    got.append(block.data(), static_cast<std::size_t>(count));
  }
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(got, sent + " ");
}

TEST_F(Tls, AlteredBytesAreAProtocolError) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  ASSERT_TRUE(client_->is_quiet());
  const std::string record = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x');
  ASSERT_EQ(::send(server_fd_, record.data(), record.size(), 0), 37);
  char byte = 0;
  EXPECT_EQ(client_->receive(&byte, 1).trouble, Trouble::kProtocol);
}

// In a child without a handler: a signal would be its end.
TEST_F(Tls, B32_SendingToAPeerThatIsGoneRaisesNoSignal) {
  ASSERT_EQ(meet_named("h", {"DNS:h"}), Trouble::kNone);
  close_server();
  EXPECT_EXIT(
      {
        ::signal(SIGPIPE, SIG_DFL);
        bool is_closed = true;
        for (int i = 0; i < 3; ++i) {
          is_closed = is_closed && client_->send("PING\r\n").trouble == Trouble::kClosed;
        }
        ::_exit(is_closed ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace han::tests
