#include "pgqueue/error.h"

#include <algorithm>
#include <array>

namespace han::pgqueue {
namespace {

std::string text_of(std::string_view what, std::string_view sqlstate) {
  std::string text(what);
  if (!sqlstate.empty()) {
    text += " (SQLSTATE ";
    text += sqlstate;
    text += ')';
  }
  return text;
}

}  // namespace

Error::Error(std::string_view what, std::string_view sqlstate, Traits traits)
    : std::runtime_error(text_of(what, sqlstate)), sqlstate_(sqlstate), traits_(traits) {}

bool Error::is_about_values() const {
  return sqlstate_.starts_with("22") || sqlstate_.starts_with("23") || sqlstate_.starts_with("54");
}

bool Error::is_rollback() const { return sqlstate_ == "40001" || sqlstate_ == "40P01"; }

bool Error::is_lock_timeout() const { return sqlstate_ == "55P03"; }

bool Error::is_read_only() const { return sqlstate_ == kReadOnlyState; }

bool Error::is_retryable() const {
  // 08 connection, 40 rollback (deadlock, serialization), 53 resources, 57 operator intervention,
  // 58 system; 25006 a read-only server (failover), 55P03 lock timeout.
  static constexpr std::array<std::string_view, 5> kClasses = {"08", "40", "53", "57", "58"};
  if (traits_.connection_is_broken || traits_.is_deadline) return true;
  if (is_read_only() || is_lock_timeout()) return true;
  return std::any_of(kClasses.begin(), kClasses.end(),
                     [this](std::string_view c) { return sqlstate_.starts_with(c); });
}

}  // namespace han::pgqueue
