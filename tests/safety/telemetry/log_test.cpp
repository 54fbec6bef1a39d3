#include "safety/telemetry/log.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace han::tests {

using safety::LogLevel;

// spdlog's sink keeps the standard error of the process, so what it writes is captured there.
std::string logged(const std::function<void()>& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, WritesAnEventWithItsFields) {
  safety::set_log_level(LogLevel::kInfo);
  const std::string line = logged([] {
    safety::log(LogLevel::kInfo, "claimed", {{"count", std::int64_t{5}}, {"kind", "text"}});
  });
  EXPECT_NE(line.find(" info claimed count=5 kind=text\n"), std::string::npos) << line;
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
  safety::set_log_level(LogLevel::kError);
  EXPECT_EQ(logged([] { safety::log(LogLevel::kWarning, "quiet"); }), "");
  safety::set_log_level(LogLevel::kInfo);
}

TEST(RepeatedLog, WritesOnceASecondAndCountsTheRest) {
  safety::RepeatedLog repeated(LogLevel::kInfo, "failed");
  const std::string lines = logged([&] {
    for (int i = 0; i < 100; ++i) repeated("reason");
  });
  EXPECT_NE(lines.find("failed detail=reason left_out=0"), std::string::npos) << lines;
  EXPECT_EQ(lines.find('\n'), lines.size() - 1);
}

}  // namespace han::tests
