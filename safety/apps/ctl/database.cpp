#include "safety/apps/ctl/database.h"

#include <chrono>

#include "cache/endpoint.h"
#include "safety/apps/ctl/arguments.h"
#include "safety/base/deadline.h"
#include "safety/secret_text.h"

namespace han::safety {
namespace {

constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::seconds kStatementTimeout{60};
constexpr const char* kVariable = "MESSAGE_SAFETY_DATABASE_URL";

// What to do about a SQLSTATE; empty: nothing special.
std::string_view fix_of(std::string_view sqlstate) {
  if (sqlstate == "42501") return "connect as a role that may do this (migrate --roles says which)";
  if (sqlstate == "3F000" || sqlstate == "42P01" || sqlstate == "42883" || sqlstate == "42703") {
    return "the schema is missing or old: run safetyctl migrate";
  }
  if (sqlstate == "HS001") return "correct the command";
  if (sqlstate == "25006") return "the server is read-only: connect to the primary";
  return "";
}

bool is_about_server(std::string_view text) {
  const bool may_quote_address = text.find("could not translate") != std::string_view::npos;
  return text.starts_with("connect: no answer") ||
         (text.starts_with("connect: connection to server") && !may_quote_address);
}

}  // namespace

void add_database_options(CLI::App& app, DatabaseOptions& options) {
  add_string(app, "--database", options.url,
             std::string("Database URL (else ") + kVariable +
                 " or _URL_FILE, which other users cannot see)");
  add_json_flag(app, options.json);
}

std::optional<std::string> environment_database_url() {
  auto url = secret_text(kVariable, cache::RedisEndpoint::process_environment);
  if (url && url->empty()) url.reset();
  return url;
}

std::string database_url(const DatabaseOptions& options) {
  if (options.url && !options.url->empty()) return *options.url;
  if (auto url = environment_database_url()) return *url;
  throw Failure(ExitCode::kUsage, "no database is named",
                std::string("set ") + kVariable + " or give --database URL");
}

pgqueue::PoolOptions command_pool(const DatabaseOptions& options) {
  return {
      .conninfo = database_url(options), .connections_max = 1, .connect_timeout = kConnectTimeout};
}

pgqueue::Connection connect_database(const DatabaseOptions& options) {
  return {database_url(options), Deadline::after(kConnectTimeout)};
}

Deadline statement_deadline() { return Deadline::after(kStatementTimeout); }

Failure database_failure(const pgqueue::Error& error) {
  const std::string text = error.what();
  if (text.starts_with("connect:")) {
    if (is_about_server(text)) {
      return {ExitCode::kFailure, "database: " + text,
              std::string("check that the server runs, and ") + kVariable};
    }
    return {ExitCode::kFailure, "database: its URL is malformed or names an unknown host",
            std::string("write postgresql://user@host:5432/name in ") + kVariable +
                " and percent-encode the password"};
  }
  if (const auto fix = fix_of(error.sqlstate()); !fix.empty()) {
    return {ExitCode::kFailure, "database: " + text, fix};
  }
  if (error.is_in_doubt()) {
    return {ExitCode::kFailure, "database: " + text,
            "it may have been done all the same: look before you do it again"};
  }
  if (error.is_retryable()) {
    return {ExitCode::kFailure, "database: " + text, "try again when the server is well"};
  }
  return {ExitCode::kFailure, "database: " + text, "see the server's log for this SQLSTATE"};
}

}  // namespace han::safety
