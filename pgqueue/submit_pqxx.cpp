#include "pgqueue/submit_pqxx.h"

#include <pqxx/pqxx>

#include "pgqueue/queue.h"
#include "pgqueue/sql.h"
#include "pgqueue/submit.h"
#include "safety/base/check.h"
#include "safety/base/hex.h"

namespace han::pgqueue {
namespace {

// libpqxx 6 and 7 share no way to pass arrays or binary, so each array is passed as one literal of
// an array, quoted by us element by element; an element of bytea is hex and needs no escaping.
class ArrayLiteral {
 public:
  void add(const std::optional<std::string>& element) {
    text_ += text_.size() > 1 ? "," : "";
    if (!element) {
      text_ += "NULL";
      return;
    }
    has_value_ = true;
    text_ += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }

  // nullopt when no element was set: the function then skips the column.
  std::optional<std::string> text() const {
    if (!has_value_) return std::nullopt;
    return text_ + "}";
  }

 private:
  std::string text_ = "{";
  bool has_value_ = false;
};

template <typename T>
std::optional<std::string> number(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return std::to_string(*value);
}

std::optional<std::string> milliseconds(const std::optional<std::chrono::milliseconds>& value) {
  if (!value) return std::nullopt;
  return std::to_string(value->count());
}

using Columns = std::array<ArrayLiteral, 10>;

// libpqxx 7.10 deprecates the one call that libpqxx 6 has.
pqxx::result run(pqxx::transaction_base& transaction, const std::string& caller,
                 const Columns& columns) {
  const std::string sql(sql::kSubmitText);
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
  pqxx::params params;
  params.append(caller);
  for (const ArrayLiteral& column : columns) params.append(column.text());
  return transaction.exec(sql, params);
#else
  return transaction.exec_params(sql, caller, columns[0].text(), columns[1].text(),
                                 columns[2].text(), columns[3].text(), columns[4].text(),
                                 columns[5].text(), columns[6].text(), columns[7].text(),
                                 columns[8].text(), columns[9].text());
#endif
}

}  // namespace

Submitted submit(pqxx::transaction_base& transaction, const std::string& caller,
                 std::span<const NewTask> tasks) {
  SAFETY_CHECK(tasks.size() <= Queue::kBatchMax);
  if (tasks.empty()) return {};
  check_submit_bytes(tasks);
  Columns columns;
  for (const NewTask& task : tasks) {
    columns[0].add(task.kind);
    columns[1].add("\\x" + safety::to_hex(safety::as_bytes(task.payload)));
    columns[2].add((task.id ? *task.id : Uuid::v7()).to_string());
    columns[3].add(task.idempotency_key);
    columns[4].add(task.subject_id);
    columns[5].add(number(task.subject_version));
    columns[6].add(number(task.priority_class));
    columns[7].add(number(task.fairness_bucket));
    columns[8].add(milliseconds(task.run_after));
    columns[9].add(milliseconds(task.decide_within));
  }
  const pqxx::result rows = run(transaction, caller, columns);
  Submitted submitted;
  for (const auto& row : rows) {
    const auto id = Uuid::parse(row[1].as<std::string>());
    SAFETY_CHECK(id.has_value());
    const SubmitOutcome outcome = submit_outcome(row[2].as<std::string>());
    submitted.submissions.push_back({*id, outcome});
    if (outcome == SubmitOutcome::kCreated) ++submitted.hint.tasks_ready;
  }
  return submitted;
}

}  // namespace han::pgqueue
