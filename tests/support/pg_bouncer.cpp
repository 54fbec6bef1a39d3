#include "tests/support/pg_bouncer.h"

#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>

#include "pgqueue/connection.h"
#include "pgqueue/error.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

constexpr const char* kBinary = "/usr/sbin/pgbouncer";
constexpr const char* kUser = "postgres";

// auth_query lets in each role that may log in, so that tests can make roles of their own.
// server_idle_timeout: each test has its own database, and all share the server's connections.
void write_settings(const TempDir& dir, const PgServer& server, const PgBouncerOptions& options) {
  std::ofstream(dir.file("users.txt")) << "\"" << kUser << "\" \"\"\n";
  std::ofstream(dir.file("pgbouncer.ini"))
      << "[databases]\n"
      << "* = host=" << server.dir().path().string() << " port=5432\n"
      << "[pgbouncer]\n"
      << "listen_port = 6432\n"
      << "unix_socket_dir = " << dir.path().string() << "\n"
      << "auth_type = trust\n"
      << "auth_file = " << dir.file("users.txt") << "\n"
      << "auth_user = " << kUser << "\n"
      << "auth_query = SELECT rolname, '' FROM pg_catalog.pg_roles"
         " WHERE rolname = $1 AND rolcanlogin\n"
      << "pool_mode = transaction\n"
      << "default_pool_size = " << options.pool_size << "\n"
      << "max_client_conn = 1000\n"
      << "server_idle_timeout = 1\n"
      << "log_connections = 0\n"
      << "log_disconnections = 0\n";
}

}  // namespace

PgBouncer::PgBouncer(const PgServer& server, PgBouncerOptions options) {
  if (::access(kBinary, X_OK) != 0) {
    throw std::runtime_error("PgBouncer is missing: apt-get install pgbouncer");
  }
  write_settings(dir_, server, options);
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam(kUser);
    if (user == nullptr || ::chown(dir_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("the pooler's folder cannot be given to user postgres");
    }
  }
  process_.emplace(ProcessOptions{.argv = {kBinary, dir_.file("pgbouncer.ini")},
                                  .run_as = kUser,
                                  .output_path = dir_.file("pgbouncer.log"),
                                  .directory = dir_.path()});
  const bool is_up = await(
      [&] {
        if (!process_->is_running()) {
          throw std::runtime_error("pgbouncer ended: " + process_->output());
        }
        try {
          const pgqueue::Connection probe(through(server.conninfo()) + " target_session_attrs=any",
                                          safety::Deadline::after(std::chrono::seconds(5)));
          return true;
        } catch (const pgqueue::Error&) {
          return false;
        }
      },
      std::chrono::seconds(60));
  if (!is_up) throw std::runtime_error("pgbouncer does not answer: " + process_->output());
}

// The last setting of a connection string stands.
std::string PgBouncer::through(const std::string& conninfo) const {
  return conninfo + " host=" + dir_.path().string() + " port=6432";
}

}  // namespace han::tests
