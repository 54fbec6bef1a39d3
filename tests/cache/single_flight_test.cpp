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
#include "tests/support/deadlines.h"

namespace han::tests {
namespace {

using Flight = cache::SingleFlight<int>;
using Value = std::shared_ptr<const int>;
using safety::Deadline;

Deadline soon() { return Deadline::after(std::chrono::milliseconds(1)); }

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

TEST(SingleFlight, B16_AWaiterGivesUpAtItsOwnDeadlineAndTheLeaderGoesOn) {
  Flight flights;
  auto lead = flights.begin("k");
  auto place = flights.begin("k");
  auto result = std::get<Flight::Wait>(place).wait(soon());
  EXPECT_TRUE(std::holds_alternative<Flight::Wait::TimedOut>(result));
  // Neither the leader nor a later waiter has noticed.
  auto patient = flights.begin("k");
  std::get<Flight::Lead>(lead).finish(std::make_shared<const int>(1));
  auto got = std::get<Flight::Wait>(patient).wait(late());
  EXPECT_EQ(*std::get<Value>(got), 1);
}

// A thousand callers of one key; `lead` is what the leader does when all others wait.
struct Crowd {
  static constexpr int kCallers = 1'000;

  template <typename Lead>
  void run(const Lead& lead) {
    std::vector<std::jthread> threads;
    std::latch begun(kCallers);
    for (int i = 0; i < kCallers; ++i) {
      threads.emplace_back([&] {
        auto place = flights.begin("k");
        begun.arrive_and_wait();
        if (std::holds_alternative<Flight::Lead>(place)) {
          ASSERT_TRUE(await([&] { return flights.waiter_count() == kCallers - 1; }));
          lead(std::get<Flight::Lead>(std::move(place)));
          return;
        }
        auto result = std::get<Flight::Wait>(place).wait(Deadline::after(2 * kAwaitLimit));
        if (auto* taken = std::get_if<Flight::Lead>(&result)) {
          load(*taken);
        } else if (std::holds_alternative<Value>(result)) {
          ++values;
        }
      });
    }
  }

  void load(Flight::Lead& lead) {
    ++loads;
    lead.finish(std::make_shared<const int>(5));
  }

  Flight flights;
  std::atomic<int> loads{0};
  std::atomic<int> values{0};
};

TEST(SingleFlight, B17_AThousandCallersAreOneLoad) {
  Crowd crowd;
  crowd.run([&](Flight::Lead lead) { crowd.load(lead); });
  EXPECT_EQ(crowd.loads, 1);
  EXPECT_EQ(crowd.values, Crowd::kCallers - 1);
  EXPECT_EQ(crowd.flights.flight_count(), 0u);
}

// The leader's end fails nobody, and not everybody starts over.
TEST(SingleFlight, B17_OfAThousandCallersOneTakesOverFromAFailedLeader) {
  Crowd crowd;
  crowd.run([&](Flight::Lead lead) {
    try {
      const auto dies = std::move(lead);
      throw std::runtime_error("the load fails");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_EQ(crowd.loads, 1);
  EXPECT_EQ(crowd.values, Crowd::kCallers - 2);
  EXPECT_EQ(crowd.flights.flight_count(), 0u);
}

TEST(SingleFlight, B16_ExactlyOneWaiterTakesOverFromAFailedLeader) {
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
