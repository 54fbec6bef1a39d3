// RuleTable: what the policy needs to know of each live rule and list, by id.
//
// It is kept apart from the compiled rules and lists so that evidence from a cache can be judged
// without the matching engines, and so that the policy can be tested with a table made by hand.
//
// Threads: immutable after construction; safe to share. Blocks: never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace han::safety {

// Ids that start with this are those of findings that no rule and no list is needed for.
inline constexpr std::string_view kBuiltInPrefix = "link.";

// What a rule or a list that hits asks for.
enum class RuleAction : std::uint8_t {
  kBlock,
  kMonitor,
  kLift,  // lists only, `allow` there: less specific hits of lists do not count
};

// What is searched for a rule.
enum class RuleScope : std::uint8_t {
  kText,
  kLink,  // url-host rules and lists: no hit of a text
};

// Whether a rule counts: enforced, recorded without an effect, or not at all.
enum class RuleMode : std::uint8_t { kEnforce, kShadow, kOff };

struct RulePolicy {
  int severity = 0;  // 0..100
  RuleAction action = RuleAction::kBlock;
  RuleMode mode = RuleMode::kEnforce;
  std::vector<std::string> categories;
  RuleScope scope = RuleScope::kText;
};

class RuleTable {
 public:
  using Entries = std::map<std::string, RulePolicy, std::less<>>;

  RuleTable() = default;
  RuleTable(std::string rules_version, Entries entries);

  const std::string& rules_version() const { return rules_version_; }
  std::size_t size() const { return entries_.size(); }
  // nullptr when no live rule or list has this id; valid as long as the table.
  const RulePolicy* find(std::string_view id) const;

 private:
  std::string rules_version_;
  Entries entries_;
};

}  // namespace han::safety
