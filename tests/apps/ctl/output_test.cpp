#include "safety/apps/ctl/output.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/failure.h"

namespace han::tests {
namespace {

TEST(Output, JsonIsOneLineOfValidUtf8) {
  EXPECT_EQ(safety::to_line({{"b", "x\ny\xff"}, {"a", 1}}),
            "{\"b\":\"x\\ny\xef\xbf\xbd\",\"a\":1}");
}

TEST(Output, FieldsAreAligned) {
  safety::FieldTable table;
  table.add("a", "x");
  table.add("long name", std::int64_t{7});
  table.add("none", std::vector<std::string>{});
  table.add("some", std::vector<std::string>{"p", "q"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "a          x\nlong name  7\nnone       -\nsome       p, q\n");
}

TEST(Output, RowsAreAligned) {
  safety::RowTable table({"id", "state"});
  table.add({"1234", "a"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "id    state\n1234  a\n");
}

TEST(Output, ATableCannotSteerTheTerminal) {
  EXPECT_EQ(safety::printable("a\x1b[2J\nb\x7f"), "a [2J b ");
}

TEST(Output, TimesAreInUtc) {
  EXPECT_EQ(safety::utc_time(0), "1970-01-01 00:00:00");
  EXPECT_EQ(safety::utc_time(1'830'297'599'999), "2027-12-31 23:59:59");
  EXPECT_EQ(safety::utc_time(-1), "1969-12-31 23:59:59");
}

TEST(Output, AbsentValuesAreADash) {
  EXPECT_EQ(safety::shown(std::nullopt), "-");
  EXPECT_EQ(safety::shown(""), "-");
  EXPECT_EQ(safety::shown("x"), "x");
}

TEST(Output, WhatCannotBeWrittenIsAFailure) {
  std::ostringstream out;
  safety::flush_output(out);
  out.setstate(std::ios::badbit);
  EXPECT_THROW(safety::flush_output(out), safety::Failure);
}

}  // namespace
}  // namespace han::tests
