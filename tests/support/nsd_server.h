// NsdServer: a real authoritative name server (NSD) of one test, on a free port of 127.0.0.1, for
// UDP and TCP. It knows its zones only and refuses all other names.
//
// Threads: one thread at a time.
// Owns:    the server process and its folder.
// Blocks:  the constructor and start() until the server answers (at most 30 s).
// Fails:   std::runtime_error; a missing binary names the Debian package.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct NsdZone {
  // Without the trailing dot: "test".
  std::string name;
  // Lines of a zone file, relative to the zone: "a 20 IN A 192.0.2.1".
  std::string records;
  // Of the SOA: what negative answers live for is the lesser of both.
  int soa_ttl = 3600;
  int soa_minimum = 30;
};

class NsdServer {
 public:
  // The server answers for each zone when the constructor returns.
  explicit NsdServer(std::vector<NsdZone> zones);
  ~NsdServer();

  std::uint16_t port() const { return port_; }
  // As a resolver's option takes it.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  const TempDir& dir() const { return dir_; }

  void stop();
  // On the same port.
  void start();
  // SIGSTOP and SIGCONT of all its processes: packets arrive, nobody answers.
  void pause();
  void resume();
  std::string output() const;

 private:
  void write_files();
  bool try_start();
  bool answers(const std::string& zone) const;
  void signal_all(int number);

  std::vector<NsdZone> zones_;
  TempDir dir_;
  std::uint16_t port_ = 0;
  std::optional<Process> process_;
};

}  // namespace han::tests
