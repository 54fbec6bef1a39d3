// Designs of the hot table that bench-queue-design compares: tables and statements of each.
//
// All of them claim by FOR UPDATE SKIP LOCKED behind a cursor, guard the completion by generation
// and token under the row's lock, keep a result row a task and erase its payload, so they differ in
// the layout alone, and one in how it completes. Each has the indexes that claiming and rescuing
// need.
//
// Threads: values. Owns: its texts. Blocks: never.
#pragma once

#include <string>
#include <vector>

namespace han::tests {

// Parameters: submit $1 ids, $2 payloads; claim $1 count, $2 class, $3 lane, $4 id (the cursor),
// $5 token, $6 lease in ms, returns id, generation, class, lane, payload; complete $1 ids,
// $2 generations, $3 tokens, $4 decisions, returns the ids accepted.
struct Design {
  std::string name;
  std::string summary;
  std::vector<std::string> tables;  // the first one is claimed from
  std::string ddl;
  std::string submit;
  std::string claim;
  std::string complete;
  // No row where this counts something: everything was finished.
  std::string left;
  // Counts the tasks finished once.
  std::string finished;
};

std::vector<Design> queue_designs();

}  // namespace han::tests
