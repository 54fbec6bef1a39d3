#include "safety/worker/finished_task.h"

#include "safety/base/bytes.h"

namespace han::safety {
namespace {

std::string joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) {
    if (!text.empty()) text += ',';
    text += id;
  }
  return text;
}

}  // namespace

std::shared_ptr<SubjectResult> subject_result(Verdict verdict) {
  auto result = std::make_shared<SubjectResult>();
  result->rules = joined(verdict.rules);
  result->monitor_rules = joined(verdict.monitor_rules);
  result->verdict = std::move(verdict);
  return result;
}

pgqueue::Completion completion_of(const FinishedTask& task) {
  const SubjectResult& result = *task.result;
  const Verdict& verdict = result.verdict;
  pgqueue::Outcome outcome;
  outcome.decision = to_string(verdict.decision);
  if (verdict.decision == Decision::kIndeterminate) {
    outcome.disposition = to_string(verdict.disposition);
  }
  if (!verdict.reason.empty()) outcome.reason = verdict.reason;
  outcome.rules = result.rules;
  outcome.monitor_rules = result.monitor_rules;
  if (result.layer) outcome.layer = to_string(*result.layer);
  if (!result.subject_hash.empty()) {
    outcome.subject_hash = as_bytes(result.subject_hash);
    outcome.pepper_id = result.pepper_id;
  }
  outcome.rules_version = verdict.versions.rules;
  outcome.config_version = verdict.versions.config;
  outcome.detector_bundle = verdict.versions.detectors;
  return {task.lease, task.state, outcome};
}

}  // namespace han::safety
