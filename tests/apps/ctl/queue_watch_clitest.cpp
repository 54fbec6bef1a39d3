#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <sstream>

#include "safety/apps/ctl/queue_watch.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/pty_run.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kEnter = "\x1b[?1049h\x1b[?25l";
const std::string kLeave = "\x1b[?25h\x1b[?1049l";

class QueueWatch : public QueueFixture {
 protected:
  std::vector<std::string> env() const { return {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}; }

  static std::size_t frames(const std::string& screen) {
    std::size_t count = 0;
    for (std::size_t at = screen.find("\x1b[H"); at != std::string::npos;
         at = screen.find("\x1b[H", at + 1)) {
      ++count;
    }
    return count;
  }

  // Ends a view on a terminal by `end` and looks at what it leaves.
  void expect_clean_end(const std::function<void(PtyRun&)>& end) {
    PtyRun run({"queue", "watch"}, env());
    ASSERT_TRUE(await([&] { return frames(run.screen()) >= 1; })) << run.screen();
    EXPECT_THAT(run.screen(), StartsWith(kEnter));
    EXPECT_EQ(run.mode().c_lflag & (ICANON | ECHO), 0U);
    end(run);
    EXPECT_EQ(run.finish(), 0);
    const std::size_t left = run.screen().find(kLeave);
    ASSERT_NE(left, std::string::npos);
    // The last view stays, below the screen that was given back.
    EXPECT_THAT(run.screen().substr(left + kLeave.size()), HasSubstr("waiting  leased"));
    EXPECT_EQ(run.screen().find("\x1b", left + kLeave.size()), std::string::npos);
    EXPECT_LT(run.screen().rfind("q ends"), left);
    const auto wanted = static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    EXPECT_EQ(run.mode().c_lflag & wanted, wanted);
  }
};

TEST_F(QueueWatch, OnATerminalItIsAScreenUntilQ) {
  submit(3);
  claim_one();
  expect_clean_end([](PtyRun& run) {
    EXPECT_THAT(run.screen(), HasSubstr("2        1       0        0       0 "));
    run.press("x");
    EXPECT_TRUE(await([&] { return frames(run.screen()) >= 2; }));
    run.press("q");
  });
}

TEST_F(QueueWatch, ASignalEndsItCleanly) {
  expect_clean_end([](PtyRun& run) { run.signal(SIGTERM); });
  expect_clean_end([](PtyRun& run) { run.signal(SIGINT); });
  expect_clean_end([](PtyRun& run) { run.press("\x03"); });
}

TEST_F(QueueWatch, ShowsTheRatesOnTheScreen) {
  PtyRun run({"queue", "watch"}, env());
  ASSERT_TRUE(await([&] { return frames(run.screen()) >= 1; }));
  // The server tells what it counted about a second late.
  EXPECT_TRUE(await([&] {
    submit(10);
    const std::string& screen = run.screen();
    const std::size_t last = screen.rfind("\x1b[H");
    const std::size_t rate = screen.find("/s", last);
    return rate != std::string::npos && screen[rate - 2] != ' ';
  })) << run.screen();
  run.press("q");
  EXPECT_EQ(run.finish(), 0);
}

TEST_F(QueueWatch, ElsewhereItIsALineAReading) {
  submit(3);
  const auto result =
      run_ctl({"queue", "watch", "--count", "2", "--interval", "1"}, {.env = env()});
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream out(result.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("waiting 3  leased 0"));
  EXPECT_THAT(lines[0], HasSubstr("submitted -"));
  EXPECT_THAT(lines[1], HasSubstr("/s"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST_F(QueueWatch, JsonIsALineAReadingAlsoOnATerminal) {
  const auto result = run_ctl({"queue", "watch", "--count", "1", "--json"}, {.env = env()});
  EXPECT_EQ(Json::parse(result.out)["ready"], 0);
  PtyRun run({"queue", "watch", "--count", "1", "--json"}, env());
  EXPECT_EQ(run.finish(), 0);
  EXPECT_THAT(run.screen(), StartsWith("{\"at_ms\":"));
  EXPECT_THAT(run.screen(), Not(HasSubstr("\x1b")));
}

TEST_F(QueueWatch, LinesEndAtASignalToo) {
  CtlRun run({"queue", "watch", "--interval", "3600"}, {.env = env()});
  ASSERT_TRUE(await([&] { return !run.out().empty(); }));
  run.signal(SIGTERM);
  const auto result = run.finish();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(QueueWatch, AServerThatGoesAwayIsAskedAgain) {
  TcpGate gate(server().socket_path());
  const std::string url =
      "host=127.0.0.1 sslmode=disable user=postgres port=" + std::to_string(gate.port()) +
      " dbname=" + value("SELECT current_database()");
  PtyRun run({"queue", "watch", "--database", url}, {});
  ASSERT_TRUE(await([&] { return frames(run.screen()) >= 1; })) << run.screen();
  gate.set(GateMode::kRefuse);
  EXPECT_TRUE(await([&] { return run.screen().find("database: ") != std::string::npos; }));
  gate.set(GateMode::kPass);
  EXPECT_TRUE(await([&] {
    const std::string& screen = run.screen();
    const std::size_t last = screen.rfind("\x1b[J");
    const std::size_t first = screen.rfind("\x1b[H", last);
    return screen.substr(first, last - first).find("database: ") == std::string::npos;
  }));
  run.press("q");
  EXPECT_EQ(run.finish(), 0);
}

TEST_F(QueueWatch, AServerThatIsAwayAtFirstIsAnErrorAndLeavesTheTerminalAlone) {
  PtyRun run({"queue", "watch", "--database", "host=" + server().dir().file("none")}, {});
  EXPECT_EQ(run.finish(), 1);
  EXPECT_THAT(run.screen(), StartsWith("safetyctl: database: "));
  EXPECT_THAT(run.screen(), Not(HasSubstr("\x1b")));
}

TEST_F(QueueWatch, TheReadOnlyRoleMayWatch) {
  execute("SELECT message_safety.apply_roles()");
  // Roles are the server's: another test may have made it.
  execute(
      "DO $$ BEGIN CREATE ROLE watcher LOGIN IN ROLE message_safety_readonly; "
      "EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const auto result =
      run_ctl({"queue", "watch", "--count", "1", "--database", conninfo_ + " user=watcher"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("waiting 0"));
}

}  // namespace
}  // namespace han::tests
