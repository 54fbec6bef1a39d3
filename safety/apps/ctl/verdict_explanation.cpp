#include "safety/apps/ctl/verdict_explanation.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "safety/apps/ctl/rule_explanation.h"
#include "safety/link_config.h"

namespace han::safety {
namespace {

std::string date_text(std::chrono::sys_days day) {
  const auto milliseconds = std::chrono::sys_time<std::chrono::milliseconds>(day);
  return utc_time(milliseconds.time_since_epoch().count()).substr(0, 10);
}

Json day_json(const std::optional<std::chrono::sys_days>& day) {
  return day ? Json(date_text(*day)) : Json();
}

void add_explanation(Json& json, const RuleExplanation& explanation) {
  json["decision"] = explanation.decision ? Json(to_string(*explanation.decision)) : Json();
  json["why"] = explanation.why;
}

// What rules and lists have in common, behind what says which of the two it is.
template <typename Row>
void add_row(Json& json, const Row& row, const RuleExplanation& explanation) {
  json["severity"] = row.severity;
  json["action"] = to_string(row.action);
  json["mode"] = to_string(row.mode);
  json["owner"] = row.owner;
  json["reason"] = row.reason;
  json["categories"] = row.categories;
  json["expires"] = day_json(row.expires);
  add_explanation(json, explanation);
}

Json rule_json(const Rule& rule, const RuleExplanation& explanation) {
  Json json;
  json["id"] = rule.id;
  json["kind"] = to_string(rule.kind);
  json["profile"] = to_string(rule.profile);
  add_row(json, rule, explanation);
  return json;
}

Json list_json(const ListRow& row, const RuleExplanation& explanation) {
  Json json;
  json["id"] = row.id;
  json["kind"] = "list";
  json["entries"] = to_string(row.kind);
  add_row(json, row, explanation);
  return json;
}

Json finding_json(const std::string& id, const Config& config) {
  Json json;
  json["id"] = id;
  json["kind"] = "finding";
  for (std::size_t i = 0; i < kLinkFindings; ++i) {
    const auto finding = static_cast<LinkFinding>(i);
    const bool is_address =
        finding == LinkFinding::kAddress &&
        std::string_view(id).substr(0, kLinkAddressPrefix.size()) == kLinkAddressPrefix;
    if (!is_address && id != rule_id(finding)) continue;
    const std::string action(to_string(config.links.action(finding)));
    json["action"] = action;
    json["decision"] = action;
    json["why"] =
        std::string("links.actions.").append(config_word(finding)).append(" is ").append(action);
  }
  return json;
}

Json json_of(const std::string& id, bool is_outranked, const SubjectJudge& judge) {
  const Config& config = judge.config();
  const RulePolicy* policy = judge.bundle().rules().find(id);
  if (policy == nullptr) return finding_json(id, config);
  RuleExplanation explanation = explain_rule(id, *policy, config);
  if (is_outranked && policy->mode == RuleMode::kEnforce) {
    explanation = {std::nullopt, "a more specific entry decides"};
  }
  if (const Rule* rule = judge.engine().find_rule(id)) return rule_json(*rule, explanation);
  const auto& lists = judge.bundle().loaded_lists();
  const auto list = std::find_if(lists.begin(), lists.end(),
                                 [&id](const auto& loaded) { return loaded.row.id == id; });
  return list == lists.end() ? Json() : list_json(list->row, explanation);
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? "" : found->get<std::string>();
}

void print(const Json& json, std::ostream& out) {
  FieldTable table;
  const auto kind = text_of(json, "kind");
  table.add(kind == "list" || kind == "finding" ? kind : "rule", text_of(json, "id"));
  table.add("  decides", text_of(json, "decision"));
  table.add("  why", text_of(json, "why"));
  if (json.contains("profile")) table.add("  kind", kind + ", profile " + text_of(json, "profile"));
  if (json.contains("entries")) table.add("  entries", text_of(json, "entries"));
  if (json.contains("severity")) {
    table.add("  severity", json["severity"].get<std::int64_t>());
    table.add("  action", text_of(json, "action") + ", mode " + text_of(json, "mode"));
    table.add("  categories", json["categories"].get<std::vector<std::string>>());
    table.add("  owner", text_of(json, "owner"));
    table.add("  reason", text_of(json, "reason"));
    table.add("  expires", text_of(json, "expires"));
  }
  out << '\n';
  table.print(out);
}

}  // namespace

Json explained_json(const Verdict& verdict, const SubjectJudge& judge) {
  Json all = Json::array();
  for (const std::string& id : verdict.rules) all.push_back(json_of(id, false, judge));
  for (const std::string& id : verdict.monitor_rules) all.push_back(json_of(id, true, judge));
  return all;
}

void print_explained(const Verdict& verdict, const SubjectJudge& judge, std::ostream& out) {
  for (const Json& json : explained_json(verdict, judge)) print(json, out);
}

}  // namespace han::safety
