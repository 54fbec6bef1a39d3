#include "safety/date.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::parse_date;

TEST(Date, DatesAreReadInOneFormOnly) {
  EXPECT_EQ(parse_date("2027-12-31"),
            std::chrono::sys_days(std::chrono::year(2027) / std::chrono::December / 31));
  EXPECT_TRUE(parse_date("2028-02-29").has_value());
  for (const char* text :
       {"", "2027-02-29", "2027-13-01", "2027-00-10", "2027-1-1", "27-12-31", "2027/12/31",
        "31-12-2027", "2027-12-31T00:00", "2027-12-3x", "+027-12-31", " 027-12-31"}) {
    EXPECT_FALSE(parse_date(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace han::tests
