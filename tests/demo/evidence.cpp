#include "tests/demo/evidence.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "pgqueue/error.h"
#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

namespace fs = std::filesystem;

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The error's text is evidence too: it goes to the server's log and to whoever calls.
std::string refused(pgqueue::Queue& queue, const pgqueue::NewTask& task) {
  try {
    queue.submit("safetyctl", {&task, 1}, soon());
    return "";
  } catch (const pgqueue::Error& error) {
    return error.what();
  }
}

}  // namespace

EvidenceFolder::EvidenceFolder(std::string path) : path_(std::move(path)) {
  fs::create_directories(path_);
}

void EvidenceFolder::add(const std::string& name, const std::string& content) {
  std::ofstream file(fs::path(path_) / name, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write evidence");
}

std::vector<std::string> EvidenceFolder::find(const std::vector<std::string>& words) const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string content = content_of(entry.path());
    for (const std::string& word : words) {
      if (content.find(word) == std::string::npos) continue;
      found.push_back(entry.path().filename().string() + ": " + word);
    }
  }
  return found;
}

std::string redis_dump(RedisServer& redis) {
  std::string dump;
  std::istringstream keys(redis.ask({"KEYS", "*"}));
  for (std::string key; std::getline(keys, key);) {
    dump += key + " " + redis.ask({"GET", key}) + " ttl " + redis.ask({"TTL", key}) + "\n";
  }
  return dump;
}

std::string provoke_all(const std::string& database, RedisServer& redis, pgqueue::Queue& queue,
                        const std::string& marker) {
  pgqueue::NewTask task;
  task.kind = "NO KIND " + marker;
  task.payload = marker;
  std::string errors = refused(queue, task);
  task.kind = "text";
  task.payload = std::string(3 << 20, 'x') + marker;
  errors += refused(queue, task);
  task.payload = marker;
  task.subject_id = marker;
  errors += refused(queue, task);
  // The same id twice: the primary key refuses it inside the function.
  task.subject_id.reset();
  task.id = pgqueue::Uuid::v7();
  task.run_after = std::chrono::hours(1);
  errors += refused(queue, task);
  errors += refused(queue, task);
  queue.cancel(*task.id, soon());
  if (redis.is_running()) {
    std::istringstream keys(redis.ask({"KEYS", "han:safety:text:*"}));
    int count = 0;
    for (std::string key; std::getline(keys, key) && count < 20; ++count) {
      redis.ask({"SET", key, count % 2 == 0 ? "garbage" : "{\"schema_version\":1}", "EX", "100"});
    }
  }
  pg_execute(database,
             "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
             "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  return errors;
}

}  // namespace han::tests
