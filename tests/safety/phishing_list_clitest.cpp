// A real list of thousands of hosts, that of the npm package eth-phishing-detect, which ./run test
// fetches and nothing here copies: it loads as lists of ours, its bad lines are named, and hosts
// get the answers that the package itself gives. Its own main(): without node or the package the
// program prints why and exits 77, which ctest reports as skipped.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "safety/link/canonical_host.h"
#include "safety/link/list_file.h"
#include "tests/safety/bundle_folder.h"
#include "tests/support/node_modules.h"
#include "tests/support/process.h"

namespace han::tests {
namespace {

using safety::Bundle;
using safety::ListFileError;

bool is_skipped = false;

std::string lines_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  return out;
}

// Loads; lines that are refused are taken out, as an operator would, and counted.
class RealLists {
 public:
  explicit RealLists(const nlohmann::json& config)
      : block_(config.at("blacklist")), allow_(config.at("whitelist")) {
    folder_.write_lists(
        "- {id: real.block, file: block.txt, kind: suffix, action: block, severity: 80, mode: "
        "enforce}\n"
        "- {id: real.allow, file: allow.txt, kind: suffix, action: allow, mode: enforce}\n");
  }

  std::shared_ptr<const Bundle> load() {
    while (true) {
      folder_.write("block.txt", lines_of(block_));
      folder_.write("allow.txt", lines_of(allow_));
      try {
        return folder_.load();
      } catch (const ListFileError& error) {
        auto& names = error.file() == folder_.file("block.txt") ? block_ : allow_;
        for (auto fault = error.faults().rbegin(); fault != error.faults().rend(); ++fault) {
          const auto at = names.begin() + (fault->line - 1);
          refused_.insert(*at);
          names.erase(at);
        }
      }
    }
  }

  const std::vector<std::string>& block() const { return block_; }
  const std::vector<std::string>& allow() const { return allow_; }
  const std::set<std::string>& refused() const { return refused_; }

 private:
  BundleFolder folder_;
  std::vector<std::string> block_;
  std::vector<std::string> allow_;
  std::set<std::string> refused_;
};

// Empty when the package cannot be asked.
std::vector<std::string> package_answers(const std::vector<std::string>& hosts) {
  const TempDir dir;
  std::ofstream(dir.file("hosts")) << lines_of(hosts);
  Process process({.argv = {"node", "tests/apps/node/phishing_detect.mjs", dir.file("hosts")},
                   .env = {"SAFETY_TEST_NODE_MODULES=" + node_modules_folder()},
                   .output_path = dir.file("out")});
  const auto status = process.wait(safety::Deadline::after(std::chrono::seconds(120)));
  if (!status || status->code != 0) {
    std::cout << process.output();
    if (status && status->code == 127) std::cout << "skipped: node is not installed\n";
    is_skipped = status && (status->code == kSkipped || status->code == 127);
    EXPECT_TRUE(is_skipped);
    return {};
  }
  std::vector<std::string> answers;
  std::istringstream lines(process.output());
  for (std::string line; std::getline(lines, line);) answers.push_back(line);
  return answers;
}

std::string our_answer(const Bundle& bundle, const std::string& host) {
  const std::string name = safety::canonical_host(host);
  const safety::ListMatch match = bundle.lists().match({name, {}, std::nullopt});
  if (match.is_lifted()) return "allow";
  return match.hits.empty() ? "none" : "block";
}

TEST(PhishingList, ARealListLoadsAndAnswersAsItsPackageDoes) {
  std::ifstream file(node_modules_folder() + "/node_modules/eth-phishing-detect/src/config.json");
  if (!file) {
    std::cout << "skipped: the package eth-phishing-detect is not there: ./run test installs it "
                 "where npm is\n";
    is_skipped = true;
    return;
  }
  RealLists lists(nlohmann::json::parse(file));
  const std::size_t given = lists.block().size() + lists.allow().size();
  const auto begin = std::chrono::steady_clock::now();
  const auto bundle = lists.load();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const safety::ListTable& table = bundle->lists().table();
  std::cout << given << " entries, " << lists.refused().size() << " of them public suffixes, "
            << table.duplicates() << " duplicates; " << table.bytes() / table.size()
            << " bytes an entry; " << took.count() << " ms\n";
  EXPECT_GT(given, 10'000U);
  EXPECT_LT(lists.refused().size(), 20U);

  std::vector<std::string> hosts;
  for (const auto* names : {&lists.block(), &lists.allow()}) {
    for (const std::string& name : *names) {
      for (const std::string& host : {name, "www." + name, name + ".", name + ".example"}) {
        hosts.push_back(host);
      }
    }
  }
  const std::vector<std::string> answers = package_answers(hosts);
  if (is_skipped) return;
  ASSERT_EQ(answers.size(), hosts.size());
  // The package lets an allowed name lift anything; here the more specific entry decides.
  std::size_t more_specific = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string ours = our_answer(*bundle, hosts[i]);
    if (ours == answers[i]) continue;
    ASSERT_TRUE(answers[i] == "allow" && ours == "block") << "host number " << i;
    ++more_specific;
  }
  std::cout << hosts.size() << " hosts asked, " << more_specific
            << " blocked by an entry that is more specific than the one that allows\n";
}

TEST(PhishingList, ARealHostsFileLoads) {
  const std::string path =
      node_modules_folder() + "/node_modules/eth-phishing-detect/src/hosts.txt";
  if (!std::ifstream(path)) {
    is_skipped = true;
    return;
  }
  safety::ListRow row;
  row.id = "l";
  row.format = safety::ListFormat::kHosts;
  std::set<std::string> names;
  const auto summary =
      read_list_file(path, row, safety::PublicSuffixes::system(),
                     [&](const safety::ListEntry& entry, int) { names.insert(entry.name); });
  std::cout << summary.lines << " lines, " << names.size() << " hosts\n";
  EXPECT_GT(names.size(), 500U);
  EXPECT_EQ(names.count("localhost"), 0U);
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  return code == 0 && han::tests::is_skipped ? han::tests::kSkipped : code;
}
