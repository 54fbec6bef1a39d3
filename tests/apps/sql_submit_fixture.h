// SqlSubmitFixture: a database with an application's own table, a user who has only the API's role,
// and one who has none.
//
// Threads: one thread at a time.
#pragma once

#include <string>

#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

class SqlSubmitFixture : public QueueFixture {
 protected:
  static constexpr const char* kUser = "chat_backend";
  static constexpr const char* kOutsider = "chat_outsider";

  void SetUp() override {
    QueueFixture::SetUp();
    // Users are the server's: a test before may have made them.
    for (const std::string user : {kUser, kOutsider}) {
      execute("DO $$ BEGIN CREATE ROLE " + user +
              " LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    }
    execute("SELECT message_safety.apply_roles()");
    execute(std::string("GRANT message_safety_api TO ") + kUser);
    execute("SELECT message_safety.register_caller('chat')");
    execute("CREATE TABLE messages (id bigserial, body text)");
    execute(std::string("GRANT INSERT, SELECT ON messages TO ") + kUser);
    execute(std::string("GRANT USAGE ON SEQUENCE messages_id_seq TO ") + kUser);
  }

  std::string tasks() { return value("SELECT count(*) FROM message_safety.safety_tasks"); }
  std::string messages() { return value("SELECT count(*) FROM messages"); }
};

}  // namespace han::tests
