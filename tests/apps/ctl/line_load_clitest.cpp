#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "safety/apps/ctl/line_load.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

// Loads of `submit text --lines`, by the built program.
class LineLoad : public QueueFixture {
 protected:
  CtlOptions options(const std::string& input = "") const {
    return {.input = input, .env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}};
  }

  static std::vector<std::string> arguments(const std::vector<std::string>& tail) {
    std::vector<std::string> all = {"submit", "text", "--json", "--lines"};
    all.insert(all.end(), tail.begin(), tail.end());
    return all;
  }

  CtlResult load(const std::string& input, const std::vector<std::string>& tail = {"-"}) const {
    return run_ctl(arguments(tail), options(input));
  }

  static Json summary(const CtlResult& result) {
    const std::size_t end = result.out.rfind('\n', result.out.size() - 2);
    return Json::parse(result.out.substr(end == std::string::npos ? 0 : end + 1));
  }

  static std::string texts(int from, int to) {
    std::string lines;
    for (int i = from; i <= to; ++i) lines += "\"text " + std::to_string(i) + "\"\n";
    return lines;
  }

  std::string conninfo_of(const TcpGate& gate) {
    return "host=127.0.0.1 sslmode=disable user=postgres port=" + std::to_string(gate.port()) +
           " dbname=" + value("SELECT current_database()");
  }

  std::string count() { return value("SELECT count(*) FROM message_safety.safety_tasks"); }
  // How many different texts there are: less than count() when one was submitted twice.
  std::string distinct() {
    return value("SELECT count(DISTINCT payload) FROM message_safety.safety_tasks");
  }
};

// A FIFO that a load reads while the test writes it.
class Fifo {
 public:
  Fifo() { EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0); }
  ~Fifo() { close(); }
  std::string path() const { return dir_.file("fifo"); }
  void write(const std::string& bytes) {
    EXPECT_EQ(write_some(bytes), static_cast<ssize_t>(bytes.size()));
  }
  ssize_t write_some(const std::string& bytes) {
    if (fd_ < 0) fd_ = ::open(path().c_str(), O_WRONLY | O_CLOEXEC);
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    is_read_ = written > 0;
    return written;
  }
  bool is_read() const { return is_read_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  TempDir dir_;
  int fd_ = -1;
  bool is_read_ = true;
};

TEST_F(LineLoad, PrintsASummaryAndIdsWhenAsked) {
  const auto quiet = load(texts(1, 2500));
  EXPECT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 1);
  const Json json = summary(quiet);
  EXPECT_EQ(json["submitted"], 2500);
  EXPECT_EQ(json["last_line"], 2500);
  EXPECT_GT(json["per_second"], 0);
  EXPECT_EQ(quiet.err, "");
  const auto with_ids = load("\"a\"\n\"b\"\n", {"-", "--ids"});
  EXPECT_EQ(std::count(with_ids.out.begin(), with_ids.out.end(), '\n'), 3);
  EXPECT_THAT(with_ids.out, HasSubstr("\"outcome\":\"created\""));
}

TEST_F(LineLoad, GoesOnBehindABadLine) {
  const std::string bad =
      texts(1, 1500) + "{\"text\":\"zebra\",\"class\":77}\n" + texts(1502, 1600);
  const auto failed = load(bad);
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(is_one_line_error(failed));
  EXPECT_THAT(failed.err, HasSubstr("line 1501: class: must be a whole number from 0 to 9"));
  EXPECT_THAT(failed.err, HasSubstr("lines up to 1000 are submitted and none after, "
                                    "go on with --skip 1000"));
  EXPECT_FALSE(failed.shows("zebra"));
  EXPECT_EQ(summary(failed)["last_line"], 1000);
  EXPECT_EQ(count(), "1000");
  const auto rest = load(texts(1, 1600), {"-", "--skip", "1000"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(summary(rest)["submitted"], 600);
  EXPECT_EQ(summary(rest)["last_line"], 1600);
  EXPECT_EQ(count(), "1600");
  EXPECT_EQ(distinct(), "1600");
}

TEST_F(LineLoad, ABadFirstBatchSubmitsNothing) {
  const auto failed = load("\"a\"\nzebra\n");
  EXPECT_THAT(failed.err, HasSubstr("line 2: the line: must be a JSON string"));
  EXPECT_THAT(failed.err, HasSubstr("no line was submitted"));
  EXPECT_EQ(count(), "0");
}

TEST_F(LineLoad, WithKeysALoadCanBeRunAgain) {
  const std::string input = texts(1, 1200) + R"({"text":"own","key":"own"})";
  const auto first = load(input, {"-", "--keys", "import-7"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(summary(first)["created"], 1201);
  const auto again = load(input, {"-", "--keys", "import-7"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(summary(again)["duplicate"], 1201);
  const auto part = load(input + "\n\"more\"", {"-", "--keys", "import-7", "--skip", "1000"});
  EXPECT_EQ(summary(part)["duplicate"], 201);
  EXPECT_EQ(summary(part)["created"], 1);
  EXPECT_EQ(count(), "1202");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.submissions WHERE key IN "
                  "('import-7-1', 'import-7-1200', 'own', 'import-7-1202')"),
            "4");
}

TEST_F(LineLoad, NamesTheFirstLineInConflict) {
  load("\"a\"\n\"b\"\n", {"-", "--keys", "k"});
  const auto result = load("\n\"a\"\n\"zebra\"\n", {"-", "--keys", "k"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("1 tasks conflict"));
  EXPECT_THAT(result.err, HasSubstr("first in line 2"));
  EXPECT_FALSE(result.shows("zebra"));
}

TEST_F(LineLoad, LinesOfWhiteSpaceArePassedOver) {
  const auto result = load("\n\"a\"\n  \t\r\n\"b\"\n\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(summary(result)["submitted"], 2);
  EXPECT_EQ(summary(result)["last_line"], 4);
}

TEST_F(LineLoad, ALineWithoutEndIsAnErrorAtOnce) {
  Fifo fifo;
  CtlRun run(arguments({fifo.path()}), options());
  fifo.write("\"a\"\n\"");
  // The FIFO stays open: the error comes of what was read, and then nobody reads on.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const std::string chunk(4096, 'z');
  while (fifo.is_read()) fifo.write_some(chunk);
  ::signal(SIGPIPE, before);
  const auto result = run.finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("line 2: the line: is too long"));
  EXPECT_EQ(count(), "0");
}

TEST_F(LineLoad, ASignalStopsItBetweenBatches) {
  for (const int number : {SIGINT, SIGTERM}) {
    execute("DELETE FROM message_safety.safety_tasks");
    Fifo fifo;
    CtlRun run(arguments({fifo.path()}), options());
    fifo.write(texts(1, 2500));
    EXPECT_TRUE(await([&] { return count() == "2000"; }));
    run.signal(number);
    const auto result = run.finish();
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_THAT(result.err, HasSubstr("stopped by a signal: lines up to 2000 are submitted"));
    EXPECT_EQ(summary(result)["last_line"], 2000);
    EXPECT_EQ(count(), "2000");
  }
}

TEST_F(LineLoad, AServerThatGoesAwayIsWaitedFor) {
  TcpGate gate(server().socket_path());
  Fifo fifo;
  CtlRun run(arguments({fifo.path()}),
             {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_of(gate)}});
  fifo.write(texts(1, 1500));
  EXPECT_TRUE(await([&] { return count() == "1000"; }));
  gate.set(GateMode::kReset);
  const std::uint64_t accepted = gate.accepted_count();
  fifo.write(texts(1501, 2500));
  fifo.close();
  EXPECT_TRUE(await([&] { return gate.accepted_count() >= accepted + 3; }));
  gate.set(GateMode::kPass);
  const auto result = run.finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(summary(result)["last_line"], 2500);
  EXPECT_EQ(count(), "2500");
  EXPECT_EQ(distinct(), "2500");
}

TEST_F(LineLoad, AReaderOfTheIdsThatGoesAwayIsToldTheLine) {
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  ASSERT_NE(bin, nullptr);
  TempDir dir;
  write_file(dir.file("in"), texts(1, 5000));
  Process process(
      {.argv = {"/bin/sh", "-c",
                "(\"$0\" submit text --ids --lines \"$1\" 2>\"$2\"; "
                "echo $? >\"$3\") | head -1",
                std::string(bin) + "/safetyctl", dir.file("in"), dir.file("err"), dir.file("code")},
       .env = options().env,
       .output_path = dir.file("out")});
  ASSERT_TRUE(process.wait(safety::Deadline::after(kAwaitLimit)));
  EXPECT_EQ(read_file(dir.file("code")), "1\n");
  const std::string error = read_file(dir.file("err"));
  EXPECT_THAT(error, HasSubstr("standard output was closed: lines up to " + count()));
}

TEST_F(LineLoad, RefusesASkipBehindTheEnd) {
  EXPECT_EQ(load("\"a\"\n", {"-", "--skip", "1"}).code, 0);
  const auto result = load("\"a\"\n", {"-", "--skip", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("the input has 1 lines"));
  EXPECT_EQ(count(), "0");
}

TEST_F(LineLoad, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail : {std::vector<std::string>{"a", "--skip", "1"},
                                               {"a", "--keys", "k"},
                                               {"--lines", "-", "--keys", ""},
                                               {"--lines", "-", "--keys", "\xff"},
                                               {"--lines", "-", "--keys", std::string(151, 'k')},
                                               {"--lines", "-", "--skip", "-1"}}) {
    std::vector<std::string> all = {"submit", "text"};
    all.insert(all.end(), tail.begin(), tail.end());
    const auto result = run_ctl(all, options());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
  }
}

}  // namespace
}  // namespace han::tests
