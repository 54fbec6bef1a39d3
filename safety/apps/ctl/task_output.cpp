#include "safety/apps/ctl/task_output.h"

#include <nlohmann/json.hpp>

namespace han::safety {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json id_or_null(const std::optional<Uuid>& id) { return id ? Json(id->to_string()) : Json(); }

std::string id_or_empty(const std::optional<Uuid>& id) { return id ? id->to_string() : ""; }

std::string time_or_empty(const std::optional<std::int64_t>& unix_ms) {
  return unix_ms ? utc_time(*unix_ms) : "";
}

}  // namespace

Json task_json(const pgqueue::TaskView& task) {
  Json json;
  json["id"] = task.id.to_string();
  json["state"] = task.state;
  json["kind"] = task.kind;
  json["caller"] = task.caller;
  json["class"] = task.priority_class;
  json["generation"] = task.generation;
  json["attempt"] = task.attempt;
  json["submitted_at_ms"] = task.submitted_at_ms;
  json["finished_at_ms"] = or_null(task.finished_at_ms);
  json["decide_by_ms"] = or_null(task.decide_by_ms);
  json["parked"] = or_null(task.parked);
  json["crashes"] = task.crashes;
  json["redrive_of"] = id_or_null(task.redrive_of);
  json["redriven_to"] = id_or_null(task.redriven_to);
  json["last_failure"] = or_null(task.last_failure);
  json["decision"] = or_null(task.decision);
  json["disposition"] = or_null(task.disposition);
  json["reason"] = or_null(task.reason);
  json["rules"] = task.rules;
  json["monitor_rules"] = task.monitor_rules;
  json["versions"] = {{"rules", or_null(task.rules_version)},
                      {"config", or_null(task.config_version)},
                      {"detectors", or_null(task.detector_bundle)}};
  json["layer"] = or_null(task.layer);
  return json;
}

FieldTable task_table(const pgqueue::TaskView& task) {
  FieldTable table;
  table.add("task", task.id.to_string());
  table.add("state", task.state);
  table.add("parked", shown(task.parked));
  table.add("kind", task.kind);
  table.add("caller", task.caller);
  table.add("class", task.priority_class);
  table.add("generation", task.generation);
  table.add("attempt", task.attempt);
  table.add("crashes", task.crashes);
  table.add("submitted", utc_time(task.submitted_at_ms));
  table.add("decide by", time_or_empty(task.decide_by_ms));
  table.add("finished", time_or_empty(task.finished_at_ms));
  table.add("last failure", shown(task.last_failure));
  table.add("decision", shown(task.decision));
  table.add("disposition", shown(task.disposition));
  table.add("reason", shown(task.reason));
  table.add("rules", task.rules);
  table.add("monitor rules", task.monitor_rules);
  table.add("rules version", shown(task.rules_version));
  table.add("config version", shown(task.config_version));
  table.add("layer", shown(task.layer));
  table.add("redrive of", id_or_empty(task.redrive_of));
  table.add("redriven to", id_or_empty(task.redriven_to));
  return table;
}

std::string_view to_string(pgqueue::SubmitOutcome outcome) {
  switch (outcome) {
    case pgqueue::SubmitOutcome::kCreated:
      return "created";
    case pgqueue::SubmitOutcome::kDuplicate:
      return "duplicate";
    case pgqueue::SubmitOutcome::kConflict:
      return "conflict";
    case pgqueue::SubmitOutcome::kSuperseded:
      return "superseded";
    case pgqueue::SubmitOutcome::kQuarantined:
      return "quarantined";
  }
  return "";
}

}  // namespace han::safety
