#include "dns/answer_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/dns_packet.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::AnswerReader;
using dns::Failure;
using dns::RecordType;
using dns::Resolution;
using Kind = Answer::Kind;
using Section = DnsReply::Section;

const DnsQuery kQuery{7, "a.test", kDnsA};

DnsReply reply() { return DnsReply(kQuery); }

std::optional<Resolution> read(AnswerReader& reader, const DnsReply& response) {
  const std::string bytes = response.bytes();
  return reader.read({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::optional<Resolution> read(const DnsReply& response) {
  AnswerReader reader({"a.test", RecordType::kA});
  return read(reader, response);
}

Answer answer(const DnsReply& response) { return std::get<Answer>(read(response).value()); }

Failure failure(const DnsReply& response) { return std::get<Failure>(read(response).value()); }

std::vector<std::string> texts(const Answer& found) {
  std::vector<std::string> out;
  for (const auto& address : found.addresses) out.push_back(address.str());
  return out;
}

TEST(AnswerReader, TakesTheWholeSetSortedAndOnce) {
  const Answer found = answer(reply()
                                  .address("a.test", 60, "192.0.2.9")
                                  .address("a.test", 50, "10.0.0.1")
                                  .address("A.TEST", 70, "192.0.2.9")
                                  .address("other.test", 1, "192.0.2.3")
                                  .address("a.test", 2, "2001:db8::1"));
  EXPECT_EQ(found.kind, Kind::kAddresses);
  EXPECT_EQ(texts(found), (std::vector<std::string>{"10.0.0.1", "192.0.2.9"}));
  EXPECT_EQ(found.ttl.count(), 50);  // records of other names and types do not count
  EXPECT_TRUE(found.chain.empty());
}

TEST(AnswerReader, S17_TheTtlIsTheLeastOfChainAndSetAtMost900) {
  EXPECT_EQ(answer(reply().cname("a.test", 20, "b.test").address("b.test", 3600, "192.0.2.1"))
                .ttl.count(),
            20);
  EXPECT_EQ(answer(reply().cname("a.test", 3600, "b.test").address("b.test", 30, "192.0.2.1"))
                .ttl.count(),
            30);
  for (const auto& [ttl, is_capped] : {std::pair(899U, false), {900U, false}, {901U, true}}) {
    const Answer found = answer(reply().address("a.test", ttl, "192.0.2.1"));
    EXPECT_EQ(found.ttl.count(), std::min(ttl, 900U));
    EXPECT_EQ(found.is_capped, is_capped) << ttl;
  }
  const Answer chained =
      answer(reply().cname("a.test", 20, "b.test").address("b.test", 3600, "192.0.2.1"));
  EXPECT_FALSE(chained.is_capped);  // the chain is shorter
}

TEST(AnswerReader, S15_TtlZeroStaysZero) {
  EXPECT_EQ(answer(reply().address("a.test", 0, "192.0.2.1")).ttl.count(), 0);
  EXPECT_EQ(answer(reply().address("a.test", 60, "192.0.2.1").address("a.test", 0, "192.0.2.2"))
                .ttl.count(),
            0);
}

TEST(AnswerReader, S16_NegativeAnswersLiveBySoaOrAreNotCached) {
  const Answer no_data = answer(reply().soa("test", 3600, 30));
  EXPECT_EQ(no_data.kind, Kind::kNoData);
  EXPECT_EQ(no_data.ttl.count(), 30);
  EXPECT_EQ(answer(reply().soa("test", 10, 30)).ttl.count(), 10);
  EXPECT_EQ(answer(reply().soa("test", 7200, 7200)).ttl.count(), 900);
  EXPECT_TRUE(answer(reply().soa("test", 7200, 7200)).is_capped);
  EXPECT_EQ(answer(reply()).ttl.count(), 0);
  EXPECT_EQ(answer(reply()).kind, Kind::kNoData);
  const Answer absent = answer(reply().rcode(3).soa("test", 3600, 40));
  EXPECT_EQ(absent.kind, Kind::kNoSuchName);
  EXPECT_EQ(absent.ttl.count(), 40);
  EXPECT_EQ(answer(reply().rcode(3)).ttl.count(), 0);
  // The SOA of a zone that the name is not in says nothing.
  EXPECT_EQ(answer(reply().rcode(3).soa("b.test", 3600, 40)).ttl.count(), 0);
  EXPECT_EQ(answer(reply().rcode(3).soa("est", 3600, 40)).ttl.count(), 0);
  // Of two the one that ends first, wherever it stands.
  EXPECT_EQ(answer(reply().soa("test", 3600, 600).soa("test", 7, 600)).ttl.count(), 7);
  EXPECT_EQ(answer(reply().soa("", 3600, 5).soa("test", 3600, 600)).ttl.count(), 5);
}

TEST(AnswerReader, S16_FailuresAreNoNegativeAnswers) {
  EXPECT_EQ(failure(reply().rcode(2)), Failure::kServfail);
  EXPECT_EQ(failure(reply().rcode(5)), Failure::kRefused);
  EXPECT_EQ(failure(reply().rcode(1)), Failure::kServfail);
  EXPECT_EQ(failure(reply().rcode(9)), Failure::kServfail);
  EXPECT_EQ(failure(reply().not_authoritative().ns("test", "ns.test")), Failure::kRefused);
  // BADVERS: its lower bits alone would say that there is no error.
  EXPECT_EQ(failure(reply().record(Section::kAdditional, std::string(1, '\0'), kDnsOpt, 1232,
                                   0x01000000, "")),
            Failure::kServfail);
}

TEST(AnswerReader, S17_NxdomainBehindACnameIsAboutItsEnd) {
  const Answer found = answer(reply().rcode(3).cname("a.test", 15, "b.test").soa("test", 3600, 30));
  EXPECT_EQ(found.kind, Kind::kNoSuchName);
  EXPECT_EQ(found.chain, (std::vector<std::string>{"b.test"}));
  EXPECT_EQ(found.ttl.count(), 15);
}

TEST(AnswerReader, S17_AChainOfElevenIsFollowedInAnyOrderOneOfTwelveIsNot) {
  for (const int links : {11, 12}) {
    DnsReply response = reply();
    const auto name = [](int i) { return i == 0 ? "a.test" : "n" + std::to_string(i) + ".test"; };
    response.address(name(links), 60, "192.0.2.1");
    for (int i = links; i > 0; --i) response.cname(name(i - 1), 60, name(i));
    if (links == 12) {
      EXPECT_EQ(failure(response), Failure::kChain);
      continue;
    }
    const Answer found = answer(response);
    EXPECT_EQ(found.chain.size(), 11U);
    EXPECT_EQ(found.chain.front(), "n1.test");
    EXPECT_EQ(found.chain.back(), "n11.test");
  }
}

TEST(AnswerReader, S17_LoopsAreFound) {
  EXPECT_EQ(failure(reply().cname("a.test", 60, "a.test")), Failure::kLoop);
  EXPECT_EQ(failure(reply().cname("a.test", 60, "b.test").cname("b.test", 60, "A.test")),
            Failure::kLoop);
  EXPECT_EQ(failure(reply()
                        .cname("a.test", 60, "b.test")
                        .cname("b.test", 60, "c.test")
                        .cname("c.test", 60, "b.test")),
            Failure::kLoop);
}

TEST(AnswerReader, TheEndOfAChainThatIsLeftOpenIsAskedForNext) {
  AnswerReader reader({"a.test", RecordType::kA});
  EXPECT_FALSE(read(reader, reply().cname("a.test", 50, "b.other")).has_value());
  EXPECT_EQ(reader.asked().host, "b.other");
  const DnsQuery second{8, "b.other", kDnsA};
  const auto found = read(reader, DnsReply(second)
                                      .cname("b.other", 40, "c.other")
                                      .address("c.other", 60, "::1")
                                      .address("c.other", 60, "192.0.2.1"));
  const Answer whole = std::get<Answer>(found.value());
  EXPECT_EQ(whole.chain, (std::vector<std::string>{"b.other", "c.other"}));
  EXPECT_EQ(whole.ttl.count(), 40);
  EXPECT_EQ(texts(whole), (std::vector<std::string>{"192.0.2.1"}));
}

TEST(AnswerReader, S17_ALoopAndALongChainOverSeveralResponsesAreFound) {
  AnswerReader loop({"a.test", RecordType::kA});
  EXPECT_FALSE(read(loop, reply().cname("a.test", 50, "b.test")).has_value());
  EXPECT_EQ(read(loop, DnsReply({8, "b.test", kDnsA}).cname("b.test", 50, "a.test")),
            Resolution(Failure::kLoop));

  AnswerReader reader({"n0.test", RecordType::kA});
  for (int i = 0; i < 12; ++i) {
    const std::string host = reader.asked().host;
    const auto found = read(
        reader, DnsReply({8, host, kDnsA}).cname(host, 50, "n" + std::to_string(i + 1) + ".test"));
    ASSERT_EQ(found.has_value(), i == 11);
    if (found) {
      EXPECT_EQ(*found, Resolution(Failure::kChain));
    }
  }
}

TEST(AnswerReader, AnOpenEndThatKnowsNothingMoreHasNoData) {
  AnswerReader reader({"a.test", RecordType::kA});
  EXPECT_FALSE(read(reader, reply().cname("a.test", 50, "b.test")).has_value());
  const auto found = read(reader, DnsReply({8, "b.test", kDnsA}).soa("test", 9, 9));
  EXPECT_EQ(std::get<Answer>(found.value()).kind, Kind::kNoData);
  EXPECT_EQ(std::get<Answer>(*found).ttl.count(), 9);
}

TEST(AnswerReader, S14_TheWholeSetIsGivenUpToTheLimit) {
  AnswerReader small({"a.test", RecordType::kA}, 2);
  DnsReply response = reply();
  response.address("a.test", 5, "8.8.8.8").address("a.test", 5, "10.0.0.1");
  EXPECT_TRUE(std::holds_alternative<Answer>(read(small, response).value()));
  response.address("a.test", 5, "10.0.0.1");
  EXPECT_TRUE(std::holds_alternative<Answer>(read(small, response).value()));
  response.address("a.test", 5, "8.8.4.4");
  EXPECT_EQ(read(small, response), Resolution(Failure::kLimit));
}

TEST(AnswerReader, ContradictionsAreMalformed) {
  EXPECT_EQ(failure(reply()
                        .cname("a.test", 5, "b.test")
                        .address("a.test", 5, "192.0.2.1")
                        .address("b.test", 5, "192.0.2.2")),
            Failure::kMalformed);
  EXPECT_EQ(failure(reply().cname("a.test", 5, "b.test").cname("a.test", 5, "c.test")),
            Failure::kMalformed);
  EXPECT_EQ(failure(reply().rcode(3).address("a.test", 5, "192.0.2.1")), Failure::kMalformed);
  EXPECT_EQ(failure(reply().question("b.test").address("a.test", 5, "192.0.2.1")),
            Failure::kMalformed);
  EXPECT_EQ(failure(reply().question("")), Failure::kMalformed);
  AnswerReader reader({"a.test", RecordType::kAaaa});  // another type than the response's
  EXPECT_EQ(read(reader, reply()), Resolution(Failure::kMalformed));
  // Twice the same CNAME is no contradiction.
  EXPECT_EQ(answer(reply()
                       .cname("a.test", 50, "b.test")
                       .cname("a.test", 40, "b.test")
                       .address("b.test", 60, "192.0.2.1"))
                .ttl.count(),
            40);
}

TEST(AnswerReader, S18_ATruncatedResponseIsNoAnswer) {
  EXPECT_EQ(failure(reply().truncated().address("a.test", 5, "192.0.2.1")), Failure::kTruncated);
}

TEST(AnswerReader, ATargetThatIsNoHostNameIsNotAskedFor) {
  const std::string odd = std::string("\x03") + "b c" + std::string("\x04test\0", 6);
  const DnsReply response =
      reply().record(Section::kAnswer, dns_name("a.test"), kDnsCname, 1, 5, odd);
  EXPECT_EQ(failure(response), Failure::kMalformed);
}

}  // namespace
}  // namespace han::tests
