// OfflineFiles: a rules and a config file of a test, and the arguments that name them.
//
// Threads: one thread at a time. Owns: the folder with the files.
#pragma once

#include <string>
#include <vector>

#include "tests/apps/ctl/ctl_run.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

class OfflineFiles {
 public:
  OfflineFiles() {
    write_file(rules(), kRules);
    write_file(config(), kConfig);
  }

  std::string rules() const { return dir_.file("rules.yaml"); }
  std::string config() const { return dir_.file("config.yaml"); }
  std::string file(const std::string& name) const { return dir_.file(name); }

  // `head`, the two files, then `tail`.
  std::vector<std::string> arguments(std::vector<std::string> head,
                                     const std::vector<std::string>& tail) const {
    for (const std::string& word :
         {std::string("--rules"), rules(), std::string("--config"), config()}) {
      head.push_back(word);
    }
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  }

  static constexpr const char* kRules = R"(schema: 1
rules:
- {id: scam.gift, kind: phrase, pattern: gift card code, profile: fold, severity: 70,
   action: block, mode: enforce, categories: [scam], owner: trust, reason: gift-card scam,
   expires: 2099-12-31, match: [Send the GIFT card code], no_match: [gift cardigan code]}
- {id: spam.weak, kind: word, pattern: casino, profile: fold, severity: 20,
   action: block, mode: enforce, categories: [spam]}
- {id: soft.ad, kind: word, pattern: bargain, profile: fold, severity: 90,
   action: block, mode: enforce, categories: [ads]}
- {id: watch.word, kind: word, pattern: lottery, profile: raw, severity: 90,
   action: monitor, mode: enforce}
- {id: shadow.word, kind: word, pattern: prize, profile: fold, severity: 90,
   action: block, mode: shadow}
)";
  static constexpr const char* kConfig = R"(schema: 1
policy: {on_indeterminate: hold, block_severity_min: 50, categories: {ads: monitor}}
links: {dns: off}
)";

 private:
  TempDir dir_;
};

}  // namespace han::tests
