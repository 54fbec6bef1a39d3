#include "safety/apps/ctl/submit_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "safety/apps/ctl/json_object.h"
#include "safety/base/check.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

using pgqueue::NewTask;

constexpr std::size_t kNameBytesMax = 200;
constexpr std::string_view kNameRule = "must be 1 to 200 bytes of UTF-8 without NUL";
constexpr std::chrono::milliseconds kDecideDefault{std::int64_t{24} * 3600 * 1000};
// Beside the subject's own.
constexpr std::array<std::string_view, 8> kFields = {
    "payload", "key",          "subject_id",       "subject_version",
    "class",   "run_after_ms", "decide_within_ms", "fairness_bucket"};

// The field that holds the subject.
std::string_view subject_field(std::string_view kind) { return kind == kLinkKind ? "url" : "text"; }

[[noreturn]] void fail(std::string_view field, std::string_view fix) {
  throw SubmitLineError(std::string(field).append(": ").append(fix));
}

std::string text_of(JsonField& field) {
  if (field.kind != JsonField::Kind::kString) fail(field.name, "must be a string");
  return std::move(field.string.text);
}

// A name stands for one thing, so nothing of it may be mended.
std::string name_of(JsonField& field) {
  std::string name = text_of(field);
  if (field.string.is_repaired) fail(field.name, kNameRule);
  return name;
}

std::int64_t integer_of(const JsonField& field, ArgumentRange range) {
  const bool fits = field.kind == JsonField::Kind::kInteger && field.integer >= range.min &&
                    field.integer <= range.max;
  if (!fits) {
    fail(field.name, "must be a whole number from " + std::to_string(range.min) + " to " +
                         std::to_string(range.max));
  }
  return field.integer;
}

// One field of an object, each of which may come once.
void set_field(NewTask& task, JsonField& field) {
  const auto small = [&field](ArgumentRange range) {
    return static_cast<std::int16_t>(integer_of(field, range));
  };
  const std::string& name = field.name;
  if (name == "text" || name == "url" || name == "payload") {
    task.payload = text_of(field);
  } else if (name == "key") {
    task.idempotency_key = name_of(field);
  } else if (name == "subject_id") {
    task.subject_id = name_of(field);
  } else if (name == "subject_version") {
    task.subject_version = integer_of(field, kVersionRange);
  } else if (name == "class") {
    task.priority_class = small(kClassRange);
  } else if (name == "fairness_bucket") {
    task.fairness_bucket = small(kBucketRange);
  } else if (name == "run_after_ms") {
    task.run_after = std::chrono::milliseconds(integer_of(field, {0, kDelayMsMax}));
  } else {
    SAFETY_CHECK(name == "decide_within_ms");
    task.decide_within = std::chrono::milliseconds(integer_of(field, {1, kDelayMsMax}));
  }
}

NewTask task_of_object(std::string_view line, std::string_view subject) {
  NewTask task;
  JsonObjectReader reader(line);
  JsonField field;
  std::array<bool, kFields.size() + 1> has{};  // the last one is the subject
  while (true) {
    const auto next = reader.next(field);
    if (next == JsonObjectReader::Next::kMalformed) fail("the line", "is no valid JSON object");
    if (next == JsonObjectReader::Next::kEnd) break;
    const auto* known = std::find(kFields.begin(), kFields.end(), field.name);
    if (known == kFields.end() && field.name != subject) {
      std::string fix = "use ";
      fix.append(subject).append(
          " (or payload), key, subject_id, subject_version, class, "
          "fairness_bucket, run_after_ms, decide_within_ms");
      fail("a key is not known", fix);
    }
    if (std::exchange(has[static_cast<std::size_t>(known - kFields.begin())], true)) {
      fail(field.name, "comes twice, leave one out");
    }
    set_field(task, field);
  }
  if (has.front() == has.back()) {
    fail(subject, has.front() ? "leave it or payload out" : "is required");
  }
  return task;
}

void check_name(std::string_view field, const std::optional<std::string>& name) {
  if (!name) return;
  const bool fits = !name->empty() && name->size() <= kNameBytesMax &&
                    name->find('\0') == std::string::npos && is_valid_utf8(*name);
  if (!fits) fail(field, kNameRule);
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

NewTask parse_submit_line(std::string_view line, std::string_view kind) {
  NewTask task;
  if (starts_with_json(line, '{')) {
    task = task_of_object(line, subject_field(kind));
  } else if (auto text = decode_json_string(line)) {
    task.payload = std::move(*text);
  } else {
    fail("the line", std::string("must be a JSON string or an object with \"")
                         .append(subject_field(kind))
                         .append("\""));
  }
  task.kind = kind;
  check_new_task(task);
  return task;
}

}  // namespace han::safety
