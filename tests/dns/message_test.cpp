#include "dns/message.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/dns_packet.h"

namespace han::tests {
namespace {

using dns::Message;
using dns::RecordType;
using Section = DnsReply::Section;

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::optional<Message> parse(const std::string& bytes) {
  return dns::parse_message(bytes_of(bytes));
}

const DnsQuery kQuery{7, "a.test", kDnsA};

TEST(Message, ReadsEachPart) {
  const auto message = parse(DnsReply(kQuery)
                                 .cname("a.test", 20, "B.Test")
                                 .address("b.test", 3600, "192.0.2.1")
                                 .address("b.test", 60, "2001:db8::1")
                                 .soa("test", 300, 30)
                                 .ns("test", "ns.test")
                                 .bytes());
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->head.id, 7);
  EXPECT_TRUE(message->head.is_authoritative);
  EXPECT_FALSE(message->head.is_truncated);
  EXPECT_EQ(message->head.question, (dns::Question{"a.test", RecordType::kA}));
  ASSERT_EQ(message->cnames.size(), 1U);
  EXPECT_EQ(message->cnames[0].target, "b.test");
  EXPECT_EQ(message->cnames[0].ttl, 20U);
  ASSERT_EQ(message->addresses.size(), 2U);
  EXPECT_EQ(message->addresses[0].address.str(), "192.0.2.1");
  EXPECT_EQ(message->addresses[1].ttl, 60U);
  ASSERT_EQ(message->soas.size(), 1U);
  EXPECT_EQ(message->soas[0].owner, "test");
  EXPECT_EQ(message->soas[0].ttl, 300U);
  EXPECT_EQ(message->soas[0].minimum, 30U);
  EXPECT_TRUE(message->has_authority_ns);
}

TEST(Message, FollowsCompressionBackwardsOnly) {
  const std::string to_question("\xc0\x0c", 2);
  const auto good =
      parse(DnsReply(kQuery)
                .record(Section::kAnswer, to_question, kDnsA, 1, 5, "\x01\x02\x03\x04")
                .record(Section::kAnswer, to_question, kDnsCname, 1, 5,
                        "\x01"
                        "b" +
                            std::string("\xc0\x0e", 2))
                .bytes());
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->addresses[0].owner, "a.test");
  EXPECT_EQ(good->cnames[0].target, "b.test");
  // To itself, forwards, and beyond the end.
  constexpr int kAnswerAt = 12 + 8 + 4;
  for (const int target : {kAnswerAt, kAnswerAt + 2, 0x3fff}) {
    std::string pointer = dns_u16(0xc000U | static_cast<unsigned>(target));
    EXPECT_FALSE(parse(DnsReply(kQuery)
                           .record(Section::kAnswer, pointer, kDnsA, 1, 5, "\x01\x02\x03\x04")
                           .bytes())
                     .has_value())
        << target;
  }
}

// Pointers that lead to pointers, each to the one before: thousands fit into a message, and each of
// its records could lead through all of them.
TEST(Message, ANameHasNoMorePointersThanLabelsCouldNeed) {
  constexpr unsigned kDataAt = 12 + 8 + 4 + 2 + 10;  // behind the head of a record
  const auto through = [](unsigned pointers) {
    std::string chain = dns_u16(0xc00cU);
    for (unsigned i = 1; i < pointers; ++i) chain += dns_u16(0xc000U + kDataAt + 2 * (i - 1));
    const std::string owner = dns_u16(0xc000U + kDataAt + 2 * (pointers - 1));
    return parse(DnsReply(kQuery)
                     .record(Section::kAnswer, dns_u16(0xc00cU), kDnsTxt, 1, 5, chain)
                     .record(Section::kAnswer, owner, kDnsA, 1, 5, "\x01\x02\x03\x04")
                     .bytes());
  };
  ASSERT_TRUE(through(126).has_value());  // and the owner's own
  EXPECT_EQ(through(126)->addresses[0].owner, "a.test");
  EXPECT_FALSE(through(127).has_value());
  EXPECT_FALSE(through(7000).has_value());
}

TEST(Message, NamesAreBounded) {
  const std::string label = "\x3f" + std::string(63, 'x');
  const auto with_owner = [](const std::string& owner) {
    return parse(
        DnsReply(kQuery).record(Section::kAnswer, owner, kDnsA, 1, 5, "\x01\x02\x03\x04").bytes());
  };
  const std::string end(1, '\0');
  const std::string longest = label + label + label + "\x3d" + std::string(61, 'x');
  EXPECT_TRUE(with_owner(longest + end).has_value());  // 255 bytes
  EXPECT_FALSE(with_owner(label + label + label + "\x3e" + std::string(62, 'x') + end).has_value());
  EXPECT_FALSE(with_owner("\x40" + std::string(64, 'x') + end).has_value());
  EXPECT_FALSE(with_owner("\x80x" + end).has_value());
}

TEST(Message, BytesThatAreNoHostNamesAreEscaped) {
  const std::string odd = std::string("\x04") + "A.b\xff" + std::string("\x04test\0", 6);
  const auto message = parse(
      DnsReply(kQuery).record(Section::kAnswer, odd, kDnsA, 1, 5, "\x01\x02\x03\x04").bytes());
  EXPECT_EQ(message.value().addresses[0].owner, "a\\046b\\255.test");
}

TEST(Message, RecordsMustBeWellFormed) {
  const std::string owner = dns_name("a.test");
  const auto with = [&](Section section, unsigned type, const std::string& data) {
    return parse(DnsReply(kQuery).record(section, owner, type, 1, 5, data).bytes()).has_value();
  };
  EXPECT_FALSE(with(Section::kAnswer, kDnsA, "\x01\x02\x03"));
  EXPECT_FALSE(with(Section::kAnswer, kDnsA, std::string(16, '\1')));
  EXPECT_FALSE(with(Section::kAnswer, kDnsAaaa, std::string(4, '\1')));
  EXPECT_FALSE(with(Section::kAnswer, kDnsCname, dns_name("b.test") + "x"));
  EXPECT_FALSE(with(Section::kAnswer, kDnsCname, "\x05test"));
  EXPECT_FALSE(with(Section::kAuthority, kDnsSoa, dns_name("b.test")));
  EXPECT_TRUE(with(Section::kAnswer, kDnsTxt, "\x05hello"));
  EXPECT_TRUE(with(Section::kAuthority, kDnsA, "\x01\x02\x03"));  // stepped over
}

TEST(Message, EveryCutIsRefused) {
  const std::string whole =
      DnsReply(kQuery)
          .cname("a.test", 20, "b.test")
          .address("b.test", 3600, "192.0.2.1")
          .soa("test", 300, 30)
          .record(Section::kAdditional, std::string(1, '\0'), kDnsOpt, 1232, 0, "")
          .bytes();
  ASSERT_TRUE(parse(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_FALSE(parse(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_TRUE(parse(whole + "left over").has_value());
  EXPECT_FALSE(parse(whole + std::string(65536, 'x')).has_value());
  EXPECT_FALSE(parse(kQuery.bytes()).has_value());  // no response
}

TEST(Message, TheUpperBitsOfTheRcodeCount) {
  const auto message =
      parse(DnsReply(kQuery)
                .record(Section::kAdditional, std::string(1, '\0'), kDnsOpt, 1232, 0x01000000, "")
                .bytes());
  EXPECT_EQ(static_cast<int>(message.value().rcode), 16);
  EXPECT_EQ(message->head.rcode, dns::Rcode::kNoError);
}

TEST(Message, ATtlWithTheTopBitCountsAsZero) {
  const auto message = parse(DnsReply(kQuery)
                                 .address("a.test", 0x80000000U, "192.0.2.1")
                                 .address("a.test", 0x7fffffffU, "192.0.2.2")
                                 .soa("test", 0xffffffffU, 0xffffffffU)
                                 .bytes());
  EXPECT_EQ(message.value().addresses[0].ttl, 0U);
  EXPECT_EQ(message->addresses[1].ttl, 0x7fffffffU);
  EXPECT_EQ(message->soas[0].ttl, 0U);
  EXPECT_EQ(message->soas[0].minimum, 0U);
}

TEST(Message, TheHeadHasOneQuestionForAddresses) {
  const auto question = [](const std::string& bytes) {
    return dns::parse_head(bytes_of(bytes)).value().question;
  };
  EXPECT_EQ(question(kQuery.bytes()), (dns::Question{"a.test", RecordType::kA}));
  EXPECT_EQ(question(DnsQuery{1, "b.test", kDnsAaaa}.bytes()),
            (dns::Question{"b.test", RecordType::kAaaa}));
  EXPECT_FALSE(question(DnsQuery{1, "b.test", kDnsTxt}.bytes()).has_value());
  EXPECT_FALSE(question(DnsReply(kQuery).question("").bytes()).has_value());
  EXPECT_FALSE(dns::parse_head(bytes_of("short")).has_value());
}

TEST(Message, HostNames) {
  for (const char* good : {"a", "a.test", "xn--p1ai", "_dmarc.a-b.test", "1.2.3"}) {
    EXPECT_TRUE(dns::is_host_name(good)) << good;
  }
  const std::string label(63, 'x');
  EXPECT_TRUE(dns::is_host_name(label + "." + label + "." + label + "." + label.substr(2)));
  EXPECT_FALSE(dns::is_host_name(label + "." + label + "." + label + "." + label.substr(1)));
  EXPECT_FALSE(dns::is_host_name(label + "x"));
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "A", "a b", "a\\b", "a*", "\xc3\xa4"}) {
    EXPECT_FALSE(dns::is_host_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace han::tests
