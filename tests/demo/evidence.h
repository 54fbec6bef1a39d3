// Evidence: everything that a run of the demo wrote anywhere, for the search for texts and secrets
// (I7).
//
// Threads: one thread at a time. Blocks: for files and servers.
#pragma once

#include <string>
#include <vector>

#include "pgqueue/queue.h"
#include "tests/support/redis_server.h"

namespace han::tests {

// Passwords of the demo's servers: words that occur nowhere else, so that a search for them is
// sharp.
inline constexpr const char* kRedisSecret = "canaryredissecret7f3a";
inline constexpr const char* kPostgresSecret = "canarypostgressecret91bc";

class EvidenceFolder {
 public:
  // Makes the folder.
  explicit EvidenceFolder(std::string path);
  void add(const std::string& name, const std::string& content);
  // "file: word" for each of the words that a file holds.
  std::vector<std::string> find(const std::vector<std::string>& words) const;

 private:
  const std::string path_;
};

// Every key, its value and its TTL, as text.
std::string redis_dump(RedisServer& redis);

// Makes errors of every kind that can carry a text: refused and conflicting submits, a wrong kind
// of task, refused casts, sessions ended in mid-work, undecodable and foreign cached values.
// Returns the error texts.
std::string provoke_all(const std::string& database, RedisServer& redis, pgqueue::Queue& queue,
                        const std::string& marker);

}  // namespace han::tests
