#include "safety/host_examples.h"

#include <algorithm>
#include <optional>
#include <string>

#include "safety/link/policy_key.h"

namespace han::safety {
namespace {

// Nothing when there is no host to ask about.
std::optional<bool> is_hit(const LinkLists& lists, const std::string& url, const std::string& id) {
  const std::optional<PolicyKey> key = policy_key(url);
  if (!key || key->host().empty()) return std::nullopt;
  const auto address = key->is_ip() ? IpAddress::parse(key->host()) : std::nullopt;
  const ListMatch match = lists.match({key->host(), {}, address});
  return std::any_of(match.hits.begin(), match.hits.end(),
                     [&](const ListHit& hit) { return hit.id == id; });
}

}  // namespace

std::vector<ExampleFailure> run_host_examples(const Bundle& bundle) {
  std::vector<ExampleFailure> failures;
  const auto run = [&](const Rule& rule, const std::vector<RuleExample>& examples,
                       ExampleExpected expected) {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto hit = is_hit(bundle.lists(), examples[i].text, rule.id);
      if (hit && *hit == (expected == ExampleExpected::kHit)) continue;
      failures.push_back({rule.id, examples[i].line, i, expected});
    }
  };
  for (const Rule& rule : bundle.text_engine()->live()) {
    if (rule.kind != RuleKind::kUrlHost) continue;
    run(rule, rule.match, ExampleExpected::kHit);
    run(rule, rule.no_match, ExampleExpected::kNoHit);
  }
  return failures;
}

}  // namespace han::safety
