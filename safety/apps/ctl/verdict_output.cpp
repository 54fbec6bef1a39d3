#include "safety/apps/ctl/verdict_output.h"

#include <nlohmann/json.hpp>

#include "safety/base/check.h"

namespace han::safety {
namespace {

Json link_json(const LinkVerdict& link) {
  Json json;
  json["url_hash"] = link.url_hash;
  json["decision"] = to_string(link.decision);
  json["rules"] = link.rules;
  return json;
}

}  // namespace

Json verdict_json(const Verdict& verdict, Layer layer) {
  Json json;
  json["decision"] = to_string(verdict.decision);
  json["reason"] = verdict.reason;
  json["rules"] = verdict.rules;
  json["monitor_rules"] = verdict.monitor_rules;
  json["categories"] = verdict.categories;
  json["links"] = Json::array();
  for (const LinkVerdict& link : verdict.links) json["links"].push_back(link_json(link));
  Json& versions = json["versions"];
  versions["rules"] = verdict.versions.rules;
  versions["config"] = verdict.versions.config;
  versions["detectors"] = verdict.versions.detectors;
  json["layer"] = to_string(layer);
  return json;
}

void add_verdict(FieldTable& table, const Verdict& verdict, Layer layer) {
  table.add("decision", to_string(verdict.decision));
  if (verdict.decision == Decision::kIndeterminate) {
    table.add("disposition", to_string(verdict.disposition));
  }
  table.add("reason", verdict.reason);
  table.add("rules", verdict.rules);
  table.add("monitor rules", verdict.monitor_rules);
  table.add("categories", verdict.categories);
  table.add("links", static_cast<std::int64_t>(verdict.links.size()));
  table.add("rules version", verdict.versions.rules);
  table.add("config version", verdict.versions.config);
  table.add("layer", to_string(layer));
}

ExitCode exit_code(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
    case Decision::kMonitor:
      return ExitCode::kOk;
    case Decision::kBlock:
      return ExitCode::kBlock;
    case Decision::kIndeterminate:
      return ExitCode::kIndeterminate;
  }
  SAFETY_CHECK(false);
  return ExitCode::kIndeterminate;
}

}  // namespace han::safety
