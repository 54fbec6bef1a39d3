// The disk of the database is full: errors that are worth a retry, and nothing else.
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "pgqueue/error.h"
#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/support/small_disk.h"

namespace han::tests {
namespace {

constexpr std::size_t kDiskBytes = 64 << 20;

// A database in a tablespace on a small disk of its own; its log stays elsewhere, because PostgreSQL
// has no way but to stop when it cannot write that. Where no disk can be mounted, files that may not
// grow do: a block that is written in part is "disk full" to PostgreSQL too.
class FullDisk {
 public:
  explicit FullDisk(PgServer& server, bool is_mounted) : server_(server) {
    if (is_mounted) disk_ = std::make_unique<SmallDisk>(kDiskBytes);
  }

  std::string make_database() {
    const std::string conninfo = server_.make_database();
    if (!disk_) return conninfo;
    const std::string folder = disk_->dir().file("data");
    std::filesystem::create_directory(folder);
    const passwd* user = ::getpwnam("postgres");
    if (::geteuid() == 0) {
      if (::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
        throw std::runtime_error("the tablespace cannot be given to user postgres");
      }
    }
    const std::string name = pg_value(conninfo, "SELECT current_database()");
    pg_execute(server_.conninfo(), "CREATE TABLESPACE small LOCATION '" + folder + "'");
    pg_execute(server_.conninfo(), "ALTER DATABASE " + name + " SET TABLESPACE small");
    return conninfo;
  }

  void fill() {
    if (disk_) return disk_->fill();
    // Half a block more than the log's own files need.
    limit_files((16 << 20) + 4096);
  }

  void make_room() {
    if (disk_) return disk_->make_room();
    limit_files(RLIM_INFINITY);
  }

 private:
  void limit_files(rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    for (const pid_t pid : server_.processes()) ::prlimit(pid, RLIMIT_FSIZE, &limit, nullptr);
  }

  PgServer& server_;
  std::unique_ptr<SmallDisk> disk_;
};

}  // namespace

class DiskFull : public FaultFixture, public ::testing::WithParamInterface<bool> {
 protected:
  // Submits tasks one call after the other until the disk takes no more; returns how many stand.
  std::size_t submit_until_full() {
    std::size_t submitted = 0;
    while (submitted < 100'000) {
      try {
        submit(kBatch, 1500);
        submitted += kBatch;
      } catch (const pgqueue::Error& error) {
        EXPECT_EQ(error.sqlstate(), "53100") << error.what();
        EXPECT_TRUE(error.is_retryable());
        EXPECT_FALSE(error.is_in_doubt());
        return submitted;
      }
    }
    ADD_FAILURE() << "the disk is never full";
    return submitted;
  }

  static constexpr std::size_t kBatch = 200;
};

// Crash-safe and complete: all that was acknowledged is done once, as soon as there is room.
TEST_P(DiskFull, ErrorsAreRetriedAndTheWorkGoesOnWhenThereIsRoom) {
  if (GetParam() && !SmallDisk::is_possible()) {
    std::printf("no small disk can be mounted here: files that may not grow take its place\n");
  }
  // is_possible() has entered the name space in which the server will see the disk.
  const bool is_mounted = GetParam() && SmallDisk::is_possible();
  PgServer server({.arguments = kQuickServer});
  FullDisk disk(server, is_mounted);
  conninfo_ = disk.make_database();
  submit(kBatch);
  disk.fill();
  const std::size_t accepted = kBatch + submit_until_full();
  Crew crew({.conninfo = conninfo_, .queue = proven(5min)});
  if (is_mounted) {
    // Results need new blocks: completions fail as well, and are tried again.
    ASSERT_TRUE(await([&] { return crew.tally().errors_of("53100") >= 4; }));
  }
  EXPECT_EQ(value("SELECT (SELECT count(*) FROM message_safety.safety_tasks) + "
                  "(SELECT count(*) FROM message_safety.results)"),
            std::to_string(accepted));
  disk.make_room();
  ASSERT_TRUE(await_drained());
  submit(10);
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(accepted + 10, crew.tally());
}

INSTANTIATE_TEST_SUITE_P(, DiskFull, ::testing::Values(true, false), [](const auto& one) {
  return one.param ? "ASmallDisk" : "FilesThatMayNotGrow";
});

}  // namespace han::tests
