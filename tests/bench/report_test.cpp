#include "tests/bench/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace han::tests {

TEST(Report, TakesTheMiddleSampleAsTheMedian) {
  Samples odd;
  for (const double value : {9.0, 1.0, 5.0}) odd.add(value);
  EXPECT_EQ(odd.median(), 5);
  EXPECT_EQ(odd.smallest(), 1);
  EXPECT_EQ(odd.largest(), 9);
  Samples even = odd;
  even.add(7);
  EXPECT_EQ(even.median(), 6);
}

TEST(Report, FindsThePercentileByRank) {
  Samples samples;
  for (int value = 100; value >= 1; --value) samples.add(value);
  EXPECT_EQ(samples.percentile(0.5), 50);
  EXPECT_EQ(samples.percentile(0.99), 99);
  EXPECT_EQ(samples.percentile(1), 100);
  EXPECT_EQ(samples.percentile(0), 1);
  EXPECT_EQ(samples.count(), 100U);
}

TEST(Report, WritesBytesAsMebibytes) {
  EXPECT_EQ(mebibytes(0.5 * 1024 * 1024), "0.5 MiB");
  EXPECT_EQ(mebibytes(1375.0 * 1024 * 1024), "1375 MiB");
}

TEST(Report, SaysWhetherATargetIsReached) {
  EXPECT_EQ(at_least(2.44, 5), "2.44 (target 5.00: missed)");
  EXPECT_EQ(at_least(5, 5), "5.00 (target 5.00: reached)");
  EXPECT_EQ(at_most(1.24, 1.5), "1.24 (target 1.50: reached)");
  EXPECT_EQ(at_most(1.6, 1.5), "1.60 (target 1.50: missed)");
}

TEST(Report, WritesNumbersShortly) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.123), "0.12");
  EXPECT_EQ(short_number(812), "812");
  EXPECT_EQ(short_number(24'312), "24.3k");
  EXPECT_EQ(short_number(147'000), "147k");
  EXPECT_EQ(short_number(1'250'000), "1.25M");
  EXPECT_EQ(Samples().text(), "-");
}

TEST(Report, AlignsTheColumnsOfATable) {
  Table table({"side", "tasks/s"});
  table.add({"ours", "1"});
  table.add({"a longer name", "12345678"});
  EXPECT_EQ(table.text(),
            "side            tasks/s\n"
            "ours                  1\n"
            "a longer name  12345678\n");
  EXPECT_EQ(table.markdown(),
            "| side | tasks/s |\n|---|---:|\n| ours | 1 |\n| a longer name | 12345678 |\n");
}

TEST(Report, EndsInOneLineOfJson) {
  const BenchResult result{.bench = "queue",
                           .sides = {{"ours", 140000.12345}, {"peer", 70000}},
                           .ratio = 2.0000017,
                           .target = 2,
                           .ratios = {{"peer", 2.0000017}}};
  EXPECT_EQ(result.json().find('\n'), std::string::npos);
  const auto line = nlohmann::json::parse(result.json());
  EXPECT_EQ(line["bench"], "queue");
  EXPECT_EQ(line["sides"]["ours"], 140000.123);
  EXPECT_EQ(line["ratio"], 2.0);
  EXPECT_EQ(line["target"], 2.0);
  EXPECT_EQ(line["ratios"]["peer"], 2.0);
}

}  // namespace han::tests
