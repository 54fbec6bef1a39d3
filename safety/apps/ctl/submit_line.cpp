#include "safety/apps/ctl/submit_line.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "safety/apps/ctl/json_string.h"
#include "safety/apps/ctl/output.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

using pgqueue::NewTask;

constexpr std::size_t kNameBytesMax = 200;
constexpr std::chrono::milliseconds kDecideDefault{std::int64_t{24} * 3600 * 1000};
constexpr std::array<std::string_view, 8> kFields = {
    "text",  "key",          "subject_id",       "subject_version",
    "class", "run_after_ms", "decide_within_ms", "fairness_bucket"};

[[noreturn]] void fail(std::string_view field, std::string_view fix) {
  throw SubmitLineError(std::string(field).append(": ").append(fix));
}

std::optional<std::string> text_field(const Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end()) return std::nullopt;
  if (!found->is_string()) fail(field, "must be a string");
  return found->get<std::string>();
}

std::optional<std::int64_t> integer_field(const Json& json, const char* field,
                                          ArgumentRange range) {
  const auto found = json.find(field);
  if (found == json.end()) return std::nullopt;
  const bool fits = found->is_number_integer() &&
                    !(found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX);
  if (!fits || found->get<std::int64_t>() < range.min || found->get<std::int64_t>() > range.max) {
    fail(field, "must be a whole number from " + std::to_string(range.min) + " to " +
                    std::to_string(range.max));
  }
  return found->get<std::int64_t>();
}

std::optional<std::int16_t> small(const std::optional<std::int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<std::int16_t>(*value);
}

std::optional<std::chrono::milliseconds> duration(const std::optional<std::int64_t>& value) {
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(*value);
}

NewTask task_of_object(const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (std::find(kFields.begin(), kFields.end(), name) == kFields.end()) {
      fail("a key is not known",
           "use text, key, subject_id, subject_version, class, "
           "fairness_bucket, run_after_ms, decide_within_ms");
    }
  }
  auto text = text_field(json, "text");
  if (!text) fail("text", "is required");
  NewTask task;
  task.payload = std::move(*text);
  task.idempotency_key = text_field(json, "key");
  task.subject_id = text_field(json, "subject_id");
  task.subject_version = integer_field(json, "subject_version", kVersionRange);
  task.priority_class = small(integer_field(json, "class", kClassRange));
  task.fairness_bucket = small(integer_field(json, "fairness_bucket", kBucketRange));
  task.run_after = duration(integer_field(json, "run_after_ms", {0, kDelayMsMax}));
  task.decide_within = duration(integer_field(json, "decide_within_ms", {1, kDelayMsMax}));
  return task;
}

void check_name(std::string_view field, const std::optional<std::string>& name) {
  if (!name) return;
  const bool fits = !name->empty() && name->size() <= kNameBytesMax &&
                    name->find('\0') == std::string::npos && is_valid_utf8(*name);
  if (!fits) fail(field, "must be 1 to 200 bytes of UTF-8 without NUL");
}

}  // namespace

void check_new_task(const NewTask& task) {
  if (task.payload.size() > kPayloadBytesMax) fail("text", "must have at most 2 MiB");
  check_name("key", task.idempotency_key);
  check_name("subject", task.subject_id);
  if (task.subject_id.has_value() != task.subject_version.has_value()) {
    fail("subject", "needs its version, and a version its subject");
  }
  const auto run_after = task.run_after.value_or(std::chrono::milliseconds(0));
  if (run_after >= task.decide_within.value_or(kDecideDefault)) {
    fail("run_after_ms", "must be less than decide_within_ms (a day if absent)");
  }
}

NewTask parse_submit_line(std::string_view line) {
  NewTask task;
  if (starts_with_json(line, '{')) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) fail("the line", "is no valid JSON object in UTF-8");
    task = task_of_object(json);
  } else if (auto text = decode_json_string(line)) {
    task.payload = std::move(*text);
  } else {
    fail("the line", "must be a JSON string or an object with \"text\"");
  }
  task.kind = kTextKind;
  check_new_task(task);
  return task;
}

}  // namespace han::safety
