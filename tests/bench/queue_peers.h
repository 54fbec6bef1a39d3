// The peers of the queue benchmark: node programs of tests/bench/peers, one run each.
//
// Threads: one thread at a time.
// Owns:    the node process of a call. Blocks: until it has ended (at most 20 minutes).
// Fails:   PeersMissing when node or the packages are not there; std::runtime_error when a run
//          fails.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/bench_server.h"

namespace han::tests {

class PeersMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Peer {
  std::string name;
  std::string script;                  // in tests/bench/peers
  std::vector<std::string> arguments;  // beyond connection, tasks and modules
};

struct PeerFigures {
  double tasks_per_s = 0;
  double submitted_per_s = 0;
  std::string version;
  std::string settings;
};

// Throws PeersMissing with what is to be done.
void require_peers(const std::string& modules);
PeerFigures run_peer(BenchServer& server, const Peer& peer, std::size_t tasks,
                     const std::string& modules);

}  // namespace han::tests
