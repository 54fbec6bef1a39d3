#include "pgqueue/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <optional>

#include "pgqueue/error.h"
#include "pgqueue/sql.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr int kBinary = 1;
// Raised by our own functions; their messages quote nothing.
constexpr std::string_view kOwnSqlState = "HS001";

enum class Ready { kYes, kDeadline };

Ready wait_for(int socket, short events, Deadline deadline) {
  pollfd entry{socket, events, 0};
  while (poll(&entry, 1, deadline.poll_ms()) <= 0) {
    if (deadline.has_passed()) return Ready::kDeadline;
  }
  return Ready::kYes;
}

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? "" : text;
}

Error error_of(const PGresult* result, std::string_view name, bool is_script) {
  const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
  std::string what(name);
  if (is_script || sqlstate == kOwnSqlState) {
    what += ": " + field(result, PG_DIAG_MESSAGE_PRIMARY);
    const std::string hint = field(result, PG_DIAG_MESSAGE_HINT);
    if (!hint.empty()) what += ". " + hint;
  } else {
    what += sqlstate == kReadOnlyState ? ": the server is read-only" : " failed";
  }
  // 57014 is a cancelled statement: the statement timeout that carries our deadline.
  return Error(what, sqlstate,
               {.connection_is_broken = sqlstate == kReadOnlyState && !is_script,
                .is_deadline = sqlstate == "57014"});
}

// libpq's message of a failed connect names host, port, role and database, and the server's reason.
// Its other messages quote what it could not make sense of, which may be part of the password.
std::string first_line(const char* message) {
  std::string text = message == nullptr ? "" : message;
  if (!text.starts_with("connection to server ")) {
    return "the connection string names no server that can be looked up";
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

// libpq looks for a writable server itself; when it has found none but a standby, it says so in
// words only. It speaks English as long as the program sets no locale.
Error connect_error(const char* message) {
  const std::string reason = first_line(message);
  const bool is_read_only = reason.find("session is read-only") != std::string::npos;
  return Error("connect: " + std::string(is_read_only ? "the server is read-only: " : "") + reason,
               is_read_only ? kReadOnlyState : "", {.connection_is_broken = true});
}

}  // namespace

void Connection::Close::operator()(pg_conn* connection) const noexcept { PQfinish(connection); }

// A pooler passes on what its server said of itself once, which may be that of a standby long
// promoted: a refusal is checked with the server that answers now. The connection string's own
// target_session_attrs stands in both tries.
Connection::Connection(const std::string& conninfo, Deadline deadline) {
  try {
    connect(conninfo, "read-write", deadline);
  } catch (const Error& error) {
    if (!error.is_read_only()) throw;
    connect(conninfo, "any", deadline);
    const Statement statement{"connect", sql::kTakesWrites, {}};
    if (!run({&statement, 1}, deadline, Commits::kNo)[0].boolean(0, 0)) throw;
  }
}

void Connection::prepare() {
  // Notices would go to standard error, and may quote what they speak of.
  PQsetNoticeReceiver(
      connection_.get(), [](void*, const PGresult*) {}, nullptr);
  // Pipeline mode is entered per call, so that run_script() can use the simple protocol.
  SAFETY_CHECK(PQsetnonblocking(connection_.get(), 1) == 0);
}

// libpq's complaint about a string that it cannot parse quotes the string, password included.
bool Connection::is_well_formed(const std::string& conninfo) {
  PQconninfoOption* options = PQconninfoParse(conninfo.c_str(), nullptr);
  if (options == nullptr) return false;
  PQconninfoFree(options);
  return true;
}

void Connection::connect(const std::string& conninfo, const char* session_attrs,
                         Deadline deadline) {
  if (!is_well_formed(conninfo)) {
    throw Error("connect: the connection string is malformed", "", {.connection_is_broken = true});
  }
  // The connection string comes last: what it says itself overrides our defaults before it.
  const std::array<const char*, 5> keywords = {"target_session_attrs", "application_name",
                                               "tcp_user_timeout", "dbname", nullptr};
  const std::array<const char*, 5> values = {session_attrs, "han-safety", "15000", conninfo.c_str(),
                                             nullptr};
  connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
    throw connect_error(connection_ ? PQerrorMessage(connection_.get()) : nullptr);
  }
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  while (status != PGRES_POLLING_OK) {
    if (status == PGRES_POLLING_FAILED) {
      throw connect_error(PQerrorMessage(connection_.get()));
    }
    const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (wait_for(PQsocket(connection_.get()), events, deadline) == Ready::kDeadline) {
      throw Error("connect: no answer within the deadline", "",
                  {.connection_is_broken = true, .is_deadline = true});
    }
    status = PQconnectPoll(connection_.get());
  }
  prepare();
}

bool Connection::is_usable() const {
  return !is_broken_ && PQstatus(connection_.get()) == CONNECTION_OK &&
         PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

bool Connection::has_died_idle() const {
  pollfd entry{PQsocket(connection_.get()), POLLIN, 0};
  return poll(&entry, 1, 0) != 0;
}

void Connection::fail_connection(std::string_view name, Commits may_commit, bool is_deadline) {
  is_broken_ = true;
  std::string what(name);
  what += is_deadline ? ": no answer within the deadline" : ": the connection was lost";
  throw Error(what, "",
              {.connection_is_broken = true,
               .is_in_doubt = may_commit == Commits::kYes,
               .is_deadline = is_deadline});
}

void Connection::send_all(std::span<const Statement> statements) {
  std::vector<::Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (const Statement& statement : statements) {
    types.clear();
    values.clear();
    lengths.clear();
    formats.clear();
    for (const Param& param : statement.params) {
      types.push_back(static_cast<::Oid>(param.type()));
      values.push_back(param.is_null() ? nullptr : param.bytes().data());
      lengths.push_back(static_cast<int>(param.bytes().size()));
      formats.push_back(kBinary);
    }
    const std::string sql(statement.sql);
    if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(types.size()),
                          types.data(), values.data(), lengths.data(), formats.data(),
                          kBinary) != 1) {
      fail_connection(statement.name, Commits::kNo, false);
    }
  }
  if (PQpipelineSync(connection_.get()) != 1) fail_connection("sync", Commits::kNo, false);
}

void Connection::flush(Deadline deadline, std::string_view name, Commits may_commit) {
  while (true) {
    const int pending = PQflush(connection_.get());
    if (pending == 0) return;
    if (pending < 0) fail_connection(name, may_commit, false);
    if (wait_for(PQsocket(connection_.get()), POLLIN | POLLOUT, deadline) == Ready::kDeadline) {
      fail_connection(name, may_commit, true);
    }
    if (PQconsumeInput(connection_.get()) != 1) fail_connection(name, may_commit, false);
  }
}

void Connection::await_result(Deadline deadline, std::string_view name, Commits may_commit) {
  while (PQisBusy(connection_.get()) == 1) {
    if (wait_for(PQsocket(connection_.get()), POLLIN, deadline) == Ready::kDeadline) {
      fail_connection(name, may_commit, true);
    }
    if (PQconsumeInput(connection_.get()) != 1) fail_connection(name, may_commit, false);
  }
}

std::vector<Rows> Connection::run(std::span<const Statement> statements, Deadline deadline,
                                  Commits may_commit) {
  SAFETY_CHECK(!statements.empty());
  if (is_broken_) fail_connection(statements.front().name, Commits::kNo, false);
  if (PQenterPipelineMode(connection_.get()) != 1) {
    fail_connection(statements.front().name, Commits::kNo, false);
  }
  send_all(statements);
  flush(deadline, statements.front().name, may_commit);

  std::vector<Rows> all;
  std::optional<Error> first_error;
  for (std::size_t i = 0; i <= statements.size(); ++i) {
    const bool is_sync = i == statements.size();
    const std::string_view name = is_sync ? statements.back().name : statements[i].name;
    // A commit that fails (serialization, a deferred constraint) is a result of the sync's own,
    // with an end of its own before that of the sync.
    int ends_expected = is_sync ? 2 : 1;
    while (true) {
      await_result(deadline, name, may_commit);
      PGresult* result = PQgetResult(connection_.get());
      if (result == nullptr) {  // the end of this statement's results
        if (--ends_expected == 0) break;
        continue;
      }
      Rows rows(result);
      const ExecStatusType status = PQresultStatus(result);
      if (status == PGRES_PIPELINE_SYNC) {
        SAFETY_CHECK(is_sync);
        break;
      }
      if (status == PGRES_FATAL_ERROR) {
        if (PQstatus(connection_.get()) != CONNECTION_OK) fail_connection(name, may_commit, false);
        if (!first_error) first_error = error_of(result, name, false);
      } else if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        all.push_back(std::move(rows));
      }
    }
  }
  if (PQexitPipelineMode(connection_.get()) != 1) fail_connection("sync", may_commit, false);
  if (first_error) {
    is_read_only_ = first_error->is_read_only();
    is_broken_ = first_error->connection_is_broken();
    throw *first_error;
  }
  return all;
}

bool Connection::is_pooled(Deadline deadline) {
  const Statement statement{"backend", sql::kBackendPid, {}};
  const auto rows = run({&statement, 1}, deadline, Commits::kNo);
  return rows[0].int4(0, 0) != PQbackendPID(connection_.get());
}

void Connection::run_script(const std::string& sql, Deadline deadline) {
  if (is_broken_) fail_connection("script", Commits::kNo, false);
  if (PQsendQuery(connection_.get(), sql.c_str()) != 1) {
    fail_connection("script", Commits::kNo, false);
  }
  flush(deadline, "script", Commits::kYes);
  std::optional<Error> first_error;
  while (true) {
    await_result(deadline, "script", Commits::kYes);
    PGresult* result = PQgetResult(connection_.get());
    if (result == nullptr) break;
    const Rows rows(result);
    if (PQresultStatus(result) == PGRES_FATAL_ERROR && !first_error) {
      first_error = error_of(result, "script", true);
    }
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK) fail_connection("script", Commits::kYes, false);
  if (first_error) throw *first_error;
}

}  // namespace han::pgqueue
