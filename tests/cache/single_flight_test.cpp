#include "cache/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/await.h"

namespace han::tests {
namespace {

using Flight = cache::SingleFlight<int>;
using Value = std::shared_ptr<const int>;
using safety::Deadline;

Deadline soon() { return Deadline::after(std::chrono::milliseconds(1)); }
Deadline late() { return Deadline::after(kAwaitLimit); }

TEST(SingleFlight, OneLeadsAndTheOthersGetItsValue) {
  Flight flights;
  std::atomic<int> loads{0};
  std::atomic<int> sum{0};
  constexpr int kThreads = 8;
  std::latch ready(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        auto place = flights.begin("k");
        ready.arrive_and_wait();
        if (auto* lead = std::get_if<Flight::Lead>(&place)) {
          ++loads;
          lead->finish(std::make_shared<const int>(5));
          sum += 5;
        } else {
          auto result = std::get<Flight::Wait>(place).wait(late());
          ASSERT_TRUE(std::holds_alternative<Value>(result));
          sum += *std::get<Value>(result);
        }
      });
    }
  }
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(sum, 5 * kThreads);
  EXPECT_EQ(flights.flight_count(), 0u);
}

TEST(SingleFlight, DifferentKeysDoNotWaitForEachOther) {
  Flight flights;
  auto a = flights.begin("a");
  auto b = flights.begin("b");
  EXPECT_TRUE(std::holds_alternative<Flight::Lead>(a));
  EXPECT_TRUE(std::holds_alternative<Flight::Lead>(b));
}

TEST(SingleFlight, AWaiterGivesUpAtItsOwnDeadline) {
  Flight flights;
  auto lead = flights.begin("k");
  auto place = flights.begin("k");
  auto result = std::get<Flight::Wait>(place).wait(soon());
  EXPECT_TRUE(std::holds_alternative<Flight::Wait::TimedOut>(result));
  std::get<Flight::Lead>(lead).finish(std::make_shared<const int>(1));
}

TEST(SingleFlight, ExactlyOneWaiterTakesOverFromAFailedLeader) {
  Flight flights;
  constexpr int kWaiters = 8;
  std::atomic<int> takeovers{0};
  std::atomic<int> values{0};
  std::latch ready(kWaiters + 1);
  std::vector<std::jthread> threads;
  auto lead = std::make_unique<std::variant<Flight::Lead, Flight::Wait>>(flights.begin("k"));
  for (int i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&] {
      auto place = flights.begin("k");
      ready.arrive_and_wait();
      auto result = std::get<Flight::Wait>(place).wait(Deadline::after(2 * kAwaitLimit));
      if (auto* taken = std::get_if<Flight::Lead>(&result)) {
        ++takeovers;
        taken->finish(std::make_shared<const int>(9));
      } else if (std::holds_alternative<Value>(result)) {
        ++values;
      }
    });
  }
  ready.arrive_and_wait();
  ASSERT_TRUE(await([&] { return flights.waiter_count() == kWaiters; }));
  try {
    const auto dies = std::move(lead);
    throw std::runtime_error("the leader fails");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(await([&] { return takeovers == 1; })) << "nobody was woken";
  threads.clear();
  EXPECT_EQ(takeovers, 1);
  EXPECT_EQ(values, kWaiters - 1);
  EXPECT_EQ(flights.flight_count(), 0u);
}

TEST(SingleFlight, ALeadThatEndedUnseenPassesToTheNextCaller) {
  Flight flights;
  { const auto abandoned = flights.begin("k"); }
  auto next = flights.begin("k");
  EXPECT_TRUE(std::holds_alternative<Flight::Lead>(next));
}

TEST(SingleFlight, AWaiterThatComesAfterTheFailureTakesOver) {
  Flight flights;
  std::optional<std::variant<Flight::Lead, Flight::Wait>> lead(flights.begin("k"));
  auto place = flights.begin("k");
  lead.reset();
  auto result = std::get<Flight::Wait>(place).wait(soon());
  ASSERT_TRUE(std::holds_alternative<Flight::Lead>(result));
  // A newcomer waits for the one that took over.
  auto other = flights.begin("k");
  ASSERT_TRUE(std::holds_alternative<Flight::Wait>(other));
  std::get<Flight::Lead>(result).finish(std::make_shared<const int>(3));
  auto got = std::get<Flight::Wait>(other).wait(soon());
  EXPECT_EQ(*std::get<Value>(got), 3);
}

TEST(SingleFlight, AnOldFlightDoesNotEndANewOneOfTheSameKey) {
  Flight flights;
  std::optional<std::variant<Flight::Lead, Flight::Wait>> first(flights.begin("k"));
  auto old_wait = flights.begin("k");
  first.reset();
  auto second = flights.begin("k");
  ASSERT_TRUE(std::holds_alternative<Flight::Lead>(second));
  auto taken = std::get<Flight::Wait>(old_wait).wait(soon());
  ASSERT_TRUE(std::holds_alternative<Flight::Lead>(taken));
  std::get<Flight::Lead>(taken).finish(std::make_shared<const int>(1));
  auto third = flights.begin("k");
  EXPECT_TRUE(std::holds_alternative<Flight::Wait>(third)) << "the second lead still runs";
  std::get<Flight::Lead>(second).finish(std::make_shared<const int>(2));
}

TEST(SingleFlight, BatchesThatNeedEachOtherDoNotDeadlock) {
  Flight flights;
  std::latch begun(2);
  const auto batch = [&](const std::string& first, const std::string& second) {
    auto own = flights.begin(first);
    begun.arrive_and_wait();
    auto other = flights.begin(second);
    std::get<Flight::Lead>(own).finish(std::make_shared<const int>(1));
    if (auto* wait = std::get_if<Flight::Wait>(&other)) {
      EXPECT_TRUE(std::holds_alternative<Value>(wait->wait(late())));
    }
  };
  std::jthread a(batch, "x", "y");
  std::jthread b(batch, "y", "x");
}

TEST(SingleFlight, BeyondItsBoundEveryCallerLeadsAlone) {
  Flight flights(1);
  auto first = flights.begin("a");
  auto second = flights.begin("b");
  auto third = flights.begin("b");
  ASSERT_TRUE(std::holds_alternative<Flight::Lead>(second));
  ASSERT_TRUE(std::holds_alternative<Flight::Lead>(third));
  std::get<Flight::Lead>(second).finish(std::make_shared<const int>(1));
  EXPECT_EQ(flights.flight_count(), 1u);
}

}  // namespace
}  // namespace han::tests
