// A rebuild and a verify of many verdicts, as processes: what they take of memory does not grow
// with the table. SAFETY_TEST_VERDICTS is how many; the test of a landing has fewer than the soak.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/apps/ctl/ctl_run.h"
#include "tests/safety/replay/replay_fixture.h"
#include "tests/safety/replay/verdict_load.h"
#include "tests/support/await.h"
#include "tests/support/built_binary.h"

namespace han::tests {

class ReplaySoak : public ReplayFixture {
 protected:
  struct Ended {
    int code;
    double peak_mib;
    double seconds;
    std::string output;
  };

  Ended run(std::vector<std::string> tail) {
    write_file(dir_.file("peppers"), replay_pepper_file());
    std::vector<std::string> argv = {built_binary("safetyctl"), "replay"};
    argv.insert(argv.end(), tail.begin(), tail.end());
    const std::string output = dir_.file("output-" + std::to_string(++runs_));
    const auto begin = std::chrono::steady_clock::now();
    Process process({.argv = argv,
                     .env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_,
                             "MESSAGE_SAFETY_REDIS_URL=" + redis_.unix_url(),
                             "MESSAGE_SAFETY_REDIS_OPS_URL=" + redis_.ops_url(),
                             "MESSAGE_SAFETY_PEPPER_FILE=" + dir_.file("peppers")},
                     .output_path = output});
    double peak = 0;
    std::optional<ExitStatus> status;
    EXPECT_TRUE(await(
        [&] {
          peak = std::max(peak, peak_mib(process.pid()));
          status = process.wait(safety::Deadline::after(std::chrono::milliseconds(0)));
          return status.has_value();
        },
        std::chrono::minutes(20)));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {status ? status->code : -1, peak, took.count(), read_file(output)};
  }

  // The most that it had in memory so far, as the kernel counts it; 0 when it has ended.
  static double peak_mib(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }

  static void say(const std::string& what, int verdicts, const Ended& ended) {
    std::cout << what << ": " << verdicts << " verdicts, peak " << ended.peak_mib << " MiB, "
              << ended.seconds << " s\n";
  }

  TempDir dir_;
  int runs_ = 0;
};

TEST_F(ReplaySoak, MemoryDoesNotGrowWithTheTable) {
  constexpr double kPeakMibMax = 64;
  load_text_verdicts(conninfo_, replay_peppers(), 0, SAFETY_TEST_VERDICTS);
  const auto rebuilt = run({"rebuild", "--rate", "100000000", "--json"});
  say("rebuild", SAFETY_TEST_VERDICTS, rebuilt);
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(redis_.ask({"DBSIZE"}), std::to_string(SAFETY_TEST_VERDICTS));
  EXPECT_GT(rebuilt.peak_mib, 1);
  EXPECT_LE(rebuilt.peak_mib, kPeakMibMax);
  const auto verified = run({"verify", "--json"});
  say("verify", SAFETY_TEST_VERDICTS, verified);
  EXPECT_EQ(verified.code, 0) << verified.output;
  EXPECT_NE(verified.output.find("\"right\":" + std::to_string(SAFETY_TEST_VERDICTS)),
            std::string::npos)
      << verified.output;
  EXPECT_LE(verified.peak_mib, kPeakMibMax);
}

// Evidence of the largest size: pages are bounded in bytes, not in rows alone.
TEST_F(ReplaySoak, MemoryDoesNotGrowWithTheEvidence) {
  constexpr double kPeakMibMax = 64;
  execute(
      "INSERT INTO message_safety.verdicts SELECT 'text', sha256(i::text::bytea), 'p3', "
      "repeat('a', 32), repeat('c', 32), '', 'allow', "
      "decode(repeat(md5(i::text), 8192), 'hex'), now() FROM generate_series(1, 1500) i");
  const auto rebuilt = run({"rebuild", "--rate", "100000000", "--json"});
  say("rebuild of large evidence", 1500, rebuilt);
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_NE(rebuilt.output.find("\"undecodable\":1500"), std::string::npos) << rebuilt.output;
  EXPECT_LE(rebuilt.peak_mib, kPeakMibMax);
}

}  // namespace han::tests
