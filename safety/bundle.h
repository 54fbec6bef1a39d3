// Bundle: rules and lists, loaded, checked and compiled together; what a rules_version is about.
//
// A bundle is a folder with rules.yaml, lists.yaml (safety/link/list_manifest.h) and the files that
// lists.yaml names; or a rules file alone. It is loaded whole or refused whole. A folder has both
// files, `rules: []` or `lists: []` in the one that is not used: a part that vanished by accident
// is never taken for one that was left out. Neither is an empty list that counts, unless it says
// entries_min: 0.
//
//     const auto bundle = Bundle::load(settings.rules_path, today);
//     TextScratch scratch(*bundle->text_engine());
//     const KeyExpressions expressions = key.expressions();
//     const ListMatch match = bundle->lists().match({key.host(), expressions, url.ip()});
//     const RulePolicy* policy = bundle->rules().find(match.hits[0].id);
//
// rules_version covers the live rules and their ids, the live lists and the contents of their
// files, the versions of Vectorscan, ICU, Unicode and the public suffixes, the forms of keys and
// entries, and the epochs of the code (SPEC section 5).
//
// Threads: immutable after construction; safe to share.
// Owns:    the compiled rules and the lists.
// Blocks:  load reads the files; about a second for 50,000 words or a million entries.
// Fails:   ConfigError, and ListFileError for what is wrong inside a list.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "safety/link/link_lists.h"
#include "safety/link/list_row.h"
#include "safety/rule_table.h"
#include "safety/text/rule.h"
#include "safety/text/text_engine.h"

namespace han::safety {

// Raised by hand whenever what the code finds about the same link under the same lists changes:
// lists, features of hosts, classes of addresses, URLs in it.
inline constexpr int kLinkCodeEpoch = 2;

// How much of a bundle counts.
struct BundleCounts {
  std::size_t rules = 0;
  std::size_t lists = 0;
  std::size_t entries = 0;  // of the lists, duplicates included
};

class Bundle {
 public:
  struct LoadedList {
    ListRow row;
    std::size_t lines = 0;
    std::size_t entries = 0;  // given in the file, duplicates included
  };

  // `path`: a folder or a rules file. Rules and lists count as of `activation_date` (UTC).
  static std::shared_ptr<const Bundle> load(const std::string& path,
                                            std::chrono::sys_days activation_date);
  // Of rules that were read before; `name` stands for their file in errors.
  static std::shared_ptr<const Bundle> of_rules(const std::string& name, std::vector<Rule> rules,
                                                std::chrono::sys_days activation_date);

  const std::shared_ptr<const TextEngine>& text_engine() const { return text_engine_; }
  const LinkLists& lists() const { return lists_; }
  // Of rules and lists, by id.
  const RuleTable& rules() const { return text_engine_->rules(); }
  const std::string& rules_version() const { return text_engine_->rules_version(); }

  BundleCounts counts() const;
  std::size_t rule_count() const { return rule_count_; }                         // live or not
  const std::vector<LoadedList>& loaded_lists() const { return loaded_lists_; }  // sorted by id
  // Ids of lists that are off or expired.
  const std::vector<std::string>& resting_lists() const { return resting_lists_; }
  // For errors; the second is "" of a rules file alone.
  const std::string& rules_file() const { return rules_file_; }
  const std::string& lists_file() const { return lists_file_; }

 private:
  struct Source;
  Bundle(Source source, std::chrono::sys_days activation_date);

  std::shared_ptr<const TextEngine> text_engine_;
  LinkLists lists_;
  std::size_t rule_count_ = 0;
  std::vector<LoadedList> loaded_lists_;
  std::vector<std::string> resting_lists_;
  std::string rules_file_;
  std::string lists_file_;
};

}  // namespace han::safety
