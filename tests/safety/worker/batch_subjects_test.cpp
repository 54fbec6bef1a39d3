#include "safety/worker/batch_subjects.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

class BatchSubjectsTest : public ::testing::Test {
 protected:
  safety::LinkItem link(const std::string& url) const { return links_.item(url); }
  std::size_t add_task(const char* url) { return subjects_.add_link_task(url, link(url)); }
  std::size_t add_host(const std::string& host) {
    return subjects_.add_host(hosts_.item(host, dns::RecordType::kA),
                              hosts_.item(host, dns::RecordType::kAaaa));
  }

  const safety::PepperSet peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a'));
  safety::Metrics metrics_;
  safety::LinkLookup links_{peppers_, metrics_, {}};
  safety::DnsLookup hosts_{peppers_, nullptr, metrics_, {}};
  safety::BatchSubjects subjects_;
};

TEST_F(BatchSubjectsTest, EqualSubjectsAreOne) {
  EXPECT_EQ(subjects_.add_text("a", safety::sha256("a")), 0U);
  EXPECT_EQ(subjects_.add_text("b", safety::sha256("b")), 1U);
  EXPECT_EQ(subjects_.add_text("a", safety::sha256("a")), 0U);
  EXPECT_EQ(subjects_.links_of.size(), 2U);
  EXPECT_EQ(subjects_.add_link(link("http://a.test/#1")), 0U);
  EXPECT_EQ(subjects_.add_link(link("http://a.test/#2")), 0U);
  EXPECT_EQ(add_host("a.test"), 0U);
  EXPECT_EQ(add_host("b.test"), 2U);
  EXPECT_EQ(add_host("a.test"), 0U);
  ASSERT_EQ(subjects_.hosts.size(), 4U);
  EXPECT_EQ(subjects_.hosts[3].question.host, "b.test");
  EXPECT_EQ(subjects_.hosts[3].question.type, dns::RecordType::kAaaa);
}

TEST_F(BatchSubjectsTest, ALinkOfATextThatIsATaskTooIsATask) {
  auto task = link("http://a.test/");
  task.is_task = true;
  subjects_.add_link(std::move(task));
  subjects_.add_link(link("http://a.test/"));
  EXPECT_TRUE(subjects_.links[0].is_task);
}

// What stands behind the '#' is no part of the link that is fetched, and holds other URLs.
TEST_F(BatchSubjectsTest, TasksOfOneLinkAreApartWhenTheirBytesAre) {
  EXPECT_EQ(add_task("http://a.test/#1"), 0U);
  EXPECT_EQ(add_task("http://a.test/#2"), 1U);
  EXPECT_EQ(add_task("http://a.test/#1"), 0U);
  ASSERT_EQ(subjects_.link_tasks.size(), 2U);
  EXPECT_EQ(subjects_.link_tasks[1].url, "http://a.test/#2");
  EXPECT_EQ(subjects_.link_tasks[1].link, subjects_.link_tasks[0].link);
  ASSERT_EQ(subjects_.links.size(), 1U);
  EXPECT_TRUE(subjects_.links[0].is_task);
}

TEST_F(BatchSubjectsTest, ALinkWaitsForBothAnswers) {
  subjects_.add_link(link("http://a.test/"));
  safety::LinkItem& item = subjects_.links[0];
  safety::CachedLink found;
  item.found = std::make_shared<safety::CachedLink>(found);
  EXPECT_FALSE(subjects_.is_waiting(item));  // its host is not asked about
  item.host = add_host("a.test");
  EXPECT_TRUE(subjects_.is_waiting(item));
  subjects_.hosts[0].facts = std::make_shared<safety::DnsFacts>();
  EXPECT_TRUE(subjects_.is_waiting(item));
  subjects_.hosts[1].facts = std::make_shared<safety::DnsFacts>();
  EXPECT_FALSE(subjects_.is_waiting(item));
  subjects_.hosts[1].facts = nullptr;
  found.evidence.needs_dns = false;
  item.found = std::make_shared<safety::CachedLink>(found);
  EXPECT_FALSE(subjects_.is_waiting(item));
}

}  // namespace
}  // namespace han::tests
