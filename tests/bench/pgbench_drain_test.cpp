#include "tests/bench/pgbench_drain.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace han::tests {

TEST(PgbenchDrain, ReplacesEveryParameterOnce) {
  EXPECT_EQ(with_arguments("a $1, $2 and $12; $x $",
                           {"one", "$1", "3", "4", "5", "6", "7", "8", "9", "10", "11", "twelve"}),
            "a one, $1 and twelve; $x $");
}

TEST(PgbenchDrain, ItsScriptHasNoParameterLeft) {
  const std::string script = pgbench_script(500);
  EXPECT_EQ(script.find('$'), std::string::npos) << script;
  EXPECT_NE(script.find("\\gset"), std::string::npos);
  EXPECT_NE(script.find("SKIP LOCKED"), std::string::npos);
}

TEST(PgbenchDrain, GivesEachClientWholeBatches) {
  EXPECT_EQ(pgbench_tasks({.tasks = 200'000, .batch = 500, .clients = 5}), 200'000U);
  EXPECT_EQ(pgbench_tasks({.tasks = 10'999, .batch = 500, .clients = 4}), 10'000U);
}

TEST(PgbenchDrain, ReadsTheRate) {
  EXPECT_EQ(pgbench_rate("latency average = 3 ms\ntps = 250.5 (without initial connection time)\n"),
            250.5);
  EXPECT_THROW(pgbench_rate("nothing"), std::runtime_error);
}

}  // namespace han::tests
