// LinkBundle: a bundle with one list of each kind, for tests that judge links.
//
// Threads: one. Owns: the folder.
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "safety/bundle.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

class LinkBundle {
 public:
  static constexpr std::chrono::sys_days kToday{std::chrono::days(20'000)};

  LinkBundle() {
    write("rules.yaml", kRules);
    write("lists.yaml", kLists);
    write("bad_hosts", "evil.example\nshop.good.example\n9.9.9.9\n");
    write("bad_suffixes", "evil.test\nalways.bad.example\n");
    write("bad_paths", "mixed.example/bad/\n9.9.9.10/bad/\n");
    write("bad_networks", "8.8.8.0/24\n2001:4860::/32\n");
    write("good", "good.example\nxn--80ak6aa92e.com\n");
    write("watched", "watched.example\n");
    write("shadowed", "shadowed.example\n");
  }

  std::string path() const { return dir_.path().string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_.file(name), std::ios::binary) << text;
  }
  std::shared_ptr<const safety::Bundle> load() const {
    return safety::Bundle::load(path(), kToday);
  }

 private:
  static constexpr const char* kRules = R"(schema: 1
rules:
- {id: scam.gift, kind: phrase, pattern: gift card code, profile: fold, severity: 70,
   action: block, mode: enforce, categories: [scam]}
- {id: host.rule, kind: url-host, pattern: ruled.example, severity: 70, action: block,
   mode: enforce, categories: [scam]}
)";
  static constexpr const char* kLists = R"(schema: 1
lists:
- {id: bad.hosts, file: bad_hosts, kind: host, action: block, severity: 80, mode: enforce,
   categories: [phishing]}
- {id: bad.suffixes, file: bad_suffixes, kind: suffix, action: block, severity: 80, mode: enforce,
   categories: [phishing]}
- {id: bad.paths, file: bad_paths, kind: path, action: block, severity: 80, mode: enforce}
- {id: bad.networks, file: bad_networks, kind: cidr, action: block, severity: 80, mode: enforce}
- {id: good.suffixes, file: good, kind: suffix, action: allow, mode: enforce}
- {id: watched, file: watched, kind: suffix, action: monitor, severity: 20, mode: enforce,
   categories: [ads]}
- {id: shadowed, file: shadowed, kind: suffix, action: block, severity: 80, mode: shadow}
)";

  TempDir dir_;
};

}  // namespace han::tests
