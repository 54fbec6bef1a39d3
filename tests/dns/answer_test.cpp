#include "dns/answer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace han::tests {
namespace {

using dns::Failure;

TEST(Answer, EachFailureHasItsOwnWord) {
  std::set<std::string> words;
  std::size_t permanent = 0;
  for (std::size_t i = 0; i < dns::kFailures; ++i) {
    const auto failure = static_cast<Failure>(i);
    const std::string word(to_string(failure));
    EXPECT_TRUE(word.starts_with("dns_")) << word;
    words.insert(word);
    if (is_permanent(failure)) ++permanent;
  }
  EXPECT_EQ(words.size(), dns::kFailures);
  EXPECT_EQ(permanent, 5U);
  EXPECT_EQ(to_string(Failure::kServfail), "dns_servfail");
  EXPECT_TRUE(is_permanent(Failure::kLoop));
  EXPECT_FALSE(is_permanent(Failure::kTimeout));
}

TEST(Answer, TypesHaveTheirNames) {
  EXPECT_EQ(to_string(dns::RecordType::kA), "A");
  EXPECT_EQ(to_string(dns::RecordType::kAaaa), "AAAA");
}

}  // namespace
}  // namespace han::tests
