// History: what the simulated workers have seen of each task, and the rules that it must keep.
//
// The rules are those of the model (tests/model). Each step tells what it saw; what breaks a rule
// becomes a line of violations().
//
// Threads: one thread at a time.
// Blocks:  check_end() for queries.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pgqueue/task.h"
#include "tests/simulation/observer.h"

namespace han::tests {

// What is known of one task.
struct TaskRecord {
  std::string kind;
  // Attempts that are charged while it is not leased: the next claim is one more.
  std::int32_t attempts = 0;
  std::int32_t crashes = 0;
  bool is_suspect = false;
  // The newest generation that was seen and not lost with a crash of the server.
  std::int64_t generation = 0;
  std::set<std::pair<std::int64_t, pgqueue::Uuid>> leases;
  // Leases whose holder was told that its completion counts.
  int told = 0;
};

class History {
 public:
  void begin_step(std::size_t number, std::string name);
  void count(const std::string& what, std::int64_t by = 1) { counts_[what] += by; }
  void violation(const std::string& rule);
  // Adds the violation unless `holds`.
  void expect(bool holds, const std::string& rule) {
    if (!holds) violation(rule);
  }

  void add(const pgqueue::Uuid& id, const std::string& kind) { tasks_[id].kind = kind; }
  bool is_known(const pgqueue::Uuid& id) const { return tasks_.contains(id); }
  TaskRecord& at(const pgqueue::Uuid& id) { return tasks_.at(id); }
  std::size_t size() const { return tasks_.size(); }

  // `truth` is read after the claim.
  void claimed(const pgqueue::ClaimedTask& task, const Truth& truth);
  // `before` is read before the completion.
  void completed(const pgqueue::Lease& lease, pgqueue::CompletionOutcome outcome,
                 const Truth& before, bool is_locked);
  void heartbeat(const pgqueue::Lease& lease, pgqueue::HeartbeatOutcome outcome,
                 const Truth& before, bool is_locked);
  // After a crash of the server: which claims were lost, and that nothing else was.
  void server_crashed(Observer& observer);
  // Suspects whose lease has expired were rescued: their crash is charged.
  void crash_charged(const pgqueue::Uuid& id);
  // After an operation without an answer: what the row says counts.
  void read_again(const pgqueue::Uuid& id, const Truth& truth);

  // When nothing is left to do.
  void check_end(Observer& observer, std::int32_t crashes_max);

  const std::vector<std::string>& violations() const { return violations_; }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<pgqueue::Uuid> ids() const;

  std::map<pgqueue::Uuid, TaskRecord> tasks_;
  std::vector<std::string> violations_;
  std::map<std::string, std::int64_t> counts_;
  std::string step_;
};

}  // namespace han::tests
