#include "tests/safety/worker/worker_fixture.h"

#include <fstream>

#include "tests/support/await.h"

namespace han::tests {
namespace {

constexpr const char* kRules = R"(schema: 1
rules:
- {id: scam.gift, kind: phrase, pattern: gift card code, profile: fold, severity: 70, action: block,
   mode: enforce, categories: [scam], owner: trust, reason: gift-card scam,
   match: [Send the GIFT card code], no_match: [gift cardigan code]}
- {id: spam.casino, kind: word, pattern: casino, profile: fold, severity: 30, action: monitor,
   mode: enforce, categories: [spam], owner: trust, reason: gambling,
   match: [a Casino], no_match: [casinos]}
- {id: shadow.word, kind: word, pattern: shadowed, profile: fold, severity: 90, action: block,
   mode: shadow, categories: [spam], owner: trust, reason: on trial,
   match: [shadowed], no_match: [shadow]}
)";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

void WorkerFixture::SetUp() {
  QueueFixture::SetUp();
  redis_url_ = redis_.unix_url();
  write(dir_.file("rules.yaml"), kRules);
  // No query may leave the machine.
  write(dir_.file("config.yaml"), "schema: 1\nlinks: {dns: off}\n");
  write(dir_.file("pepper"), "p1 " + std::string(64, 'a') + "\n");
}

safety::Settings WorkerFixture::settings(const std::string& more_settings) {
  write(dir_.file("settings.yaml"),
        "schema: 1\nrules: rules.yaml\nconfig: config.yaml\n"
        "admin: {enabled: false}\nlog_level: error\n" +
            more_settings);
  return safety::load_settings(dir_.file("settings.yaml"));
}

safety::Addresses WorkerFixture::addresses() {
  safety::Addresses addresses;
  addresses.database_url = conninfo_;
  if (!redis_url_.empty()) {
    addresses.redis = cache::RedisEndpoint(
        cache::EndpointSource{.url = redis_url_, .password_file = redis_password_path_});
  }
  addresses.pepper_path = dir_.file("pepper");
  return addresses;
}

std::unique_ptr<safety::Worker> WorkerFixture::make_worker(const std::string& more_settings) {
  const std::string quick = more_settings.find("claim:") == std::string::npos
                                ? "claim: {batch: 100, poll_ms: 50, sweep_ms: 50}\n"
                                : "";
  // Generous, so that a slow machine does not look like a slow Redis.
  const std::string patient =
      more_settings.find("redis_timeout_ms") == std::string::npos ? "redis_timeout_ms: 2000\n" : "";
  safety::set_log_level(safety::LogLevel::kError);
  return std::make_unique<safety::Worker>(settings(quick + patient + more_settings), addresses());
}

std::vector<pgqueue::Uuid> WorkerFixture::submit_texts(const std::vector<std::string>& texts) {
  std::vector<pgqueue::NewTask> tasks;
  for (const std::string& text : texts) tasks.push_back(text_task(text));
  return submit_tasks(std::move(tasks));
}

std::vector<pgqueue::Uuid> WorkerFixture::submit_links(const std::vector<std::string>& urls) {
  std::vector<pgqueue::NewTask> tasks;
  for (const std::string& url : urls) {
    tasks.push_back(text_task(url));
    tasks.back().kind = "link";
  }
  return submit_tasks(std::move(tasks));
}

std::vector<pgqueue::Uuid> WorkerFixture::submit_tasks(std::vector<pgqueue::NewTask> tasks) {
  std::vector<pgqueue::Uuid> ids;
  for (const auto& item : queue_->submit("safetyctl", tasks, soon()).submissions) {
    ids.push_back(item.task_id);
  }
  return ids;
}

bool WorkerFixture::await_drained() {
  return await([&] { return value("SELECT count(*) FROM message_safety.safety_tasks") == "0"; });
}

std::string WorkerFixture::decision_of(const pgqueue::Uuid& id) {
  return value(
      "SELECT decision || coalesce(' ' || reason, '') FROM message_safety.results "
      "WHERE task_id = '" +
      id.to_string() + "'");
}

std::string WorkerFixture::layers() {
  return value(
      "SELECT string_agg(layer || ' ' || n, ', ' ORDER BY layer) FROM (SELECT layer, "
      "count(*) AS n FROM message_safety.results GROUP BY layer) x");
}

}  // namespace han::tests
