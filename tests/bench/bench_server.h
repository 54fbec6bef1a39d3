// BenchServer: the one throw-away PostgreSQL that all sides of a benchmark share.
//
// Threads: one thread at a time.
// Owns:    the server and its folder.
// Blocks:  until the server has answered.
// Fails:   std::runtime_error, pgqueue::Error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/pg_server.h"

namespace han::tests {

class BenchServer {
 public:
  // `settings` beyond those that all benchmarks run with, for example "autovacuum_naptime=10s".
  explicit BenchServer(std::vector<std::string> settings = {});

  // "fsync=on shared_buffers=512MB ...", as the server itself says.
  std::string settings() const;
  // A fresh database, with the product's schema or empty. A checkpoint comes first, so that no side
  // pays for the one before.
  std::string make_database();
  std::string make_empty_database();
  void checkpoint();
  void drop_database(const std::string& conninfo);

  // A program of the server's installation, for example "pgbench".
  std::string program(const std::string& name) const { return server_.program(name); }

  // Bytes of WAL written so far.
  std::int64_t wal_bytes() const;
  // CPU time of all processes of the server so far, ended ones included.
  double cpu_seconds() const;

 private:
  PgServer server_;
  int empty_databases_made_ = 0;
};

// CPU time of this process so far.
double own_cpu_seconds();

}  // namespace han::tests
