#include <gtest/gtest.h>

#include "tests/bench/hot_table_size.h"
#include "tests/bench/mixed_load.h"
#include "tests/support/await.h"
#include "tests/support/pg_server.h"

namespace han::tests {

TEST(MixedLoad, LosesNothingAndLeavesAnEmptyTable) {
  PgServer server;
  const std::string conninfo = server.make_database();
  pgqueue::Pool pool({.conninfo = conninfo, .connections_max = 4});
  MixedLoad load(pool, {.backlog_max = 2'000, .batch = 100, .completers = 2});
  load.start();
  EXPECT_TRUE(await([&] { return load.completed() >= 3'000; }, std::chrono::seconds(60)));
  load.finish();
  EXPECT_EQ(load.completed(), load.submitted());
  EXPECT_GT(load.retried(), 0U);
  EXPECT_EQ(pg_value(conninfo, "SELECT count(*) FROM message_safety.safety_tasks"), "0");
  EXPECT_EQ(pg_value(conninfo, "SELECT count(DISTINCT task_id) FROM message_safety.results"),
            std::to_string(load.submitted()));
  const HotTableSize size = hot_table_size(conninfo);
  EXPECT_GT(size.heap_bytes, 0);
  EXPECT_GT(size.index_bytes, 0);
  EXPECT_GE(size.bytes(), size.heap_bytes + size.index_bytes);
}

}  // namespace han::tests
