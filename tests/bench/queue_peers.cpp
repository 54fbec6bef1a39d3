#include "tests/bench/queue_peers.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr std::chrono::minutes kRunLimit{20};
constexpr int kProgramMissing = 127;

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

// Runs a command and returns what it wrote.
std::string run(const std::vector<std::string>& argv) {
  const TempDir dir;
  Process process({.argv = argv, .output_path = dir.file("output")});
  const auto status = process.wait(safety::Deadline::after(kRunLimit));
  if (!status) throw std::runtime_error("a peer does not end");
  if (status->code == kProgramMissing) {
    throw PeersMissing(argv[0] + " is not installed (Debian package nodejs)");
  }
  if (status->code != 0) throw std::runtime_error(last_line(process.output()));
  return process.output();
}

}  // namespace

void require_peers(const std::string& modules) {
  run({"node", "--version"});
  for (const char* package : {"graphile-worker", "pg-boss"}) {
    if (std::filesystem::exists(std::filesystem::path(modules) / "node_modules" / package))
      continue;
    throw PeersMissing(std::string(package) + " is not installed in " + modules +
                       ": tests/bench/peers/setup.sh " + modules);
  }
}

PeerFigures run_peer(BenchServer& server, const Peer& peer, std::size_t tasks,
                     const std::string& modules) {
  const std::string conninfo = server.make_empty_database();
  std::vector<std::string> argv = {
      "node",         std::string(SAFETY_PEERS_DIR) + "/" + peer.script,
      "--connection", conninfo,
      "--tasks",      std::to_string(tasks),
      "--modules",    modules};
  argv.insert(argv.end(), peer.arguments.begin(), peer.arguments.end());
  PeerFigures figures;
  try {
    const auto line = nlohmann::json::parse(last_line(run(argv)));
    figures = {line.at("tasks_per_s"), line.at("submit_per_s"), line.at("version"),
               line.at("settings")};
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error(peer.name + ": the result cannot be read");
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(peer.name + ": " + error.what());
  }
  server.drop_database(conninfo);
  return figures;
}

}  // namespace han::tests
