// The disk of the database is full: errors that are worth a retry, and nothing else.
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "pgqueue/error.h"
#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/support/small_disk.h"

namespace han::tests {
namespace {

constexpr std::size_t kDiskBytes = 64 << 20;

}  // namespace

// A database in a tablespace on a small disk of its own. Its log stays elsewhere, because
// PostgreSQL has no way but to stop when it cannot write that.
class DiskFull : public FaultFixture {
 protected:
  DiskFull() {
    SmallDisk::prepare();
    server_ = std::make_unique<PgServer>(PgServerOptions{.arguments = kQuickServer});
    disk_ = std::make_unique<SmallDisk>(kDiskBytes);
    const std::string folder = disk_->file("data");
    std::filesystem::create_directory(folder);
    const passwd* user = ::getpwnam("postgres");
    if (::geteuid() == 0 && ::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("the tablespace cannot be given to user postgres");
    }
    use(*server_);
    const std::string name = value("SELECT current_database()");
    pg_execute(server_->conninfo(), "CREATE TABLESPACE small LOCATION '" + folder + "'");
    pg_execute(server_->conninfo(), "ALTER DATABASE " + name + " SET TABLESPACE small");
  }

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

  std::unique_ptr<PgServer> server_;
  std::unique_ptr<SmallDisk> disk_;
};

TEST_F(DiskFull, R05_ErrorsAreRetriedNothingIsLostAndTheWorkGoesOnWhenThereIsRoom) {
  submit(kBatch);
  disk_->fill();
  const std::size_t accepted = kBatch + submit_until_full();
  Crew crew({.conninfo = conninfo_, .queue = proven(5min)});
  // Results need new blocks: completions fail as well, and are tried again.
  ASSERT_TRUE(await([&] { return crew.tally().errors_of("53100") >= 4; }));
  EXPECT_EQ(value("SELECT (SELECT count(*) FROM message_safety.safety_tasks) + "
                  "(SELECT count(*) FROM message_safety.results)"),
            std::to_string(accepted));
  disk_->make_room();
  ASSERT_TRUE(await_drained());
  submit(10);
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(accepted + 10, crew.tally());
}

}  // namespace han::tests
