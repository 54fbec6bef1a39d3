#include "safety/link/extract_sink.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::Disguise;
using safety::Extraction;
using safety::HostTest;
using safety::LinkCandidate;
using safety::LinkSink;
using safety::Reading;

class ExtractSink : public ::testing::Test {
 protected:
  // Offers all of `text`.
  bool offer(std::string_view text, bool needs_suffix, bool may_be_refused) {
    LinkSink sink(text, {}, false, extraction_);
    LinkCandidate candidate{0, text.size(), {}};
    candidate.needs_suffix = needs_suffix;
    candidate.may_be_refused = may_be_refused;
    return sink.offer(candidate);
  }

  Extraction extraction_;
};

TEST_F(ExtractSink, TakesWhatIsAUrl) {
  EXPECT_TRUE(offer("http://a", false, false));
  EXPECT_FALSE(offer("http://a^", false, false));
  ASSERT_EQ(extraction_.links.size(), 1U);
  EXPECT_EQ(extraction_.links[0].url, "http://a");
}

TEST_F(ExtractSink, AsksForASuffix) {
  EXPECT_FALSE(offer("http:a", true, false));
  EXPECT_FALSE(offer("http:a.invalid", true, false));
  EXPECT_TRUE(offer("http:a.com", true, false));
  EXPECT_TRUE(offer("http:2130706433", true, false));
}

TEST_F(ExtractSink, TakesRefusedOnesThatTryToBeHosts) {
  EXPECT_TRUE(offer("http://a.b^", false, true));
  EXPECT_TRUE(offer("HTTPS://%zz/", false, true));
  EXPECT_FALSE(offer("http://a^/x.y", false, true));
  EXPECT_FALSE(offer("ftp://a.b^", false, true));
}

TEST_F(ExtractSink, ADisguisedOneIsNotRefusedAsItStands) {
  const std::string_view text = "http://a[.]b";
  LinkSink sink(text, {}, false, extraction_);
  HostTest suffixes(1);
  const auto disguise = Disguise::take_off(text, suffixes);
  ASSERT_TRUE(disguise);
  sink.read_original(&*disguise);
  LinkCandidate candidate{0, text.size(), {}};
  candidate.may_be_refused = true;
  EXPECT_FALSE(sink.offer(candidate));
  sink.read_undisguised(&*disguise);
  EXPECT_TRUE(sink.offer({0, disguise->text().size(), {}}));
  EXPECT_FALSE(sink.offer({0, 8, {}}));  // nothing was taken off there
  ASSERT_EQ(extraction_.links.size(), 1U);
  EXPECT_TRUE(extraction_.links[0].obfuscated);
  EXPECT_EQ(extraction_.links[0].reading, Reading::kObfuscated);
  EXPECT_EQ(extraction_.links[0].end, text.size());
}

TEST_F(ExtractSink, IsDoneAtItsLimits) {
  LinkSink sink("http://a", {.links_max = 1}, false, extraction_);
  EXPECT_TRUE(sink.offer({0, 8, {}}));
  EXPECT_FALSE(sink.is_done());
  sink.offer({0, 8, {}});
  EXPECT_TRUE(sink.is_done());
  EXPECT_TRUE(extraction_.is_over_budget);
  EXPECT_FALSE(sink.offer({0, 8, {}}));
  EXPECT_EQ(extraction_.links.size(), 1U);
}

TEST_F(ExtractSink, StepsAreLimited) {
  LinkSink sink("", {}, false, extraction_);
  sink.add_steps(safety::kExtractStepsBase);
  EXPECT_FALSE(sink.is_done());
  sink.add_steps(1);
  EXPECT_TRUE(sink.is_done());
  EXPECT_TRUE(extraction_.is_over_budget);
}

TEST_F(ExtractSink, ConversionsAreLimited) {
  LinkSink sink("", {.candidates_max = 0}, false, extraction_);
  sink.hosts().is_known_suffix("\u0440\u0444");
  sink.check_hosts();
  EXPECT_TRUE(extraction_.is_over_budget);
}

TEST_F(ExtractSink, TheFirstMayBeEnough) {
  LinkSink sink("http://a", {}, true, extraction_);
  sink.offer({0, 8, {}});
  EXPECT_TRUE(sink.is_done());
  EXPECT_FALSE(extraction_.is_over_budget);
}

}  // namespace
}  // namespace han::tests
