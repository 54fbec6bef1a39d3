// Observer: what the database really holds, asked past the queue and the faults.
//
// Threads: one thread at a time.
// Owns:    one connection, made anew after a crash of the server.
// Blocks:  for queries.
// Fails:   throws pgqueue::Error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/task.h"

namespace han::tests {

// One task as its rows say.
struct Truth {
  bool is_live = false;
  bool is_leased = false;
  bool is_over = false;  // lease_until has passed
  bool is_suspect = false;
  std::int64_t generation = 0;
  std::optional<pgqueue::Uuid> token;
  std::int32_t attempt = 0;
  std::int32_t crashes = 0;
  std::string digest;  // of the whole live row
  std::int64_t results = 0;
  std::string final_state;
  std::int64_t final_generation = 0;
  std::optional<pgqueue::Uuid> final_token;

  bool is_holder(const pgqueue::Lease& lease) const {
    return is_leased && generation == lease.generation && token == lease.token;
  }
  bool is_done_by(const pgqueue::Lease& lease) const {
    return results > 0 && final_generation == lease.generation && final_token == lease.token;
  }
};

class Observer {
 public:
  explicit Observer(std::string conninfo);

  // After a crash of the server.
  void reconnect();
  Truth truth(const pgqueue::Uuid& id) { return truths({id}).front(); }
  // In the order given.
  std::vector<Truth> truths(const std::vector<pgqueue::Uuid>& ids);
  std::vector<pgqueue::Uuid> ids(const std::string& sql);
  // First column text, second a number, of a query.
  std::vector<std::pair<std::string, std::int64_t>> counts(const std::string& sql);
  std::int64_t number(const std::string& sql);
  std::string text(const std::string& sql);
  void execute(const std::string& sql);
  // Ends every other connection to the database.
  void terminate_others();
  // Waits until no other connection works on anything.
  void await_quiet();

 private:
  pgqueue::Rows run(const std::string& sql, std::vector<pgqueue::Param> params = {});

  const std::string conninfo_;
  std::unique_ptr<pgqueue::Connection> connection_;
};

}  // namespace han::tests
