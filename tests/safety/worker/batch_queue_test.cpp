#include "safety/worker/batch_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "safety/worker/wake_signal.h"
#include "tests/support/await.h"

namespace han::tests {

using safety::BatchQueue;

BatchQueue::Batch batch(std::size_t tasks) {
  return {std::vector<pgqueue::ClaimedTask>(tasks), {}};
}

TEST(BatchQueue, GivesBatchesInOrder) {
  BatchQueue queue(2);
  const std::stop_source stop;
  queue.push(batch(1));
  queue.push(batch(2));
  EXPECT_EQ(queue.pop(stop.get_token())->tasks.size(), 1U);
  EXPECT_EQ(queue.pop(stop.get_token())->tasks.size(), 2U);
}

TEST(BatchQueue, AtTheBoundTheClaimerWaits) {
  BatchQueue queue(1);
  queue.push(batch(1));
  std::atomic<bool> has_room{false};
  std::jthread claimer([&](const std::stop_token& stop) { has_room = queue.wait_for_room(stop); });
  EXPECT_FALSE(has_room);
  const std::stop_source never;
  queue.pop(never.get_token());
  EXPECT_TRUE(await([&] { return has_room.load(); }));
}

TEST(BatchQueue, StopEndsBothWaitsAndLeavesTheRestToDrain) {
  BatchQueue full(1);
  full.push(batch(3));
  BatchQueue empty(1);
  bool has_room = true;
  bool has_batch = true;
  {
    std::jthread claimer([&](const std::stop_token& stop) { has_room = full.wait_for_room(stop); });
    std::jthread judge(
        [&](const std::stop_token& stop) { has_batch = empty.pop(stop).has_value(); });
  }
  EXPECT_FALSE(has_room);
  EXPECT_FALSE(has_batch);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(full.pop(stopped.get_token()).has_value());
  ASSERT_EQ(full.drain().size(), 1U);
  EXPECT_TRUE(full.drain().empty());
}

TEST(WakeSignal, ASignalBeforeTheWaitEndsIt) {
  safety::WakeSignal signal;
  signal.notify();
  signal.notify();
  const std::stop_source stop;
  signal.wait(stop.get_token(), safety::Deadline::none());
  // Many notifications are one: the next wait lasts to its deadline.
  signal.wait(stop.get_token(), safety::Deadline::after(std::chrono::milliseconds(1)));
}

TEST(WakeSignal, AHintOfAnySizeIsNotLost) {
  safety::WakeSignal signal;
  signal.notify(UINT64_MAX);
  signal.notify(1);
  EXPECT_EQ(signal.take(), UINT64_MAX);
  EXPECT_EQ(signal.take(), 0U);
}

}  // namespace han::tests
