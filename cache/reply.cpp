#include "cache/reply.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cache/frame_check.h"

namespace han::cache {
namespace {

using Prefix = std::pair<std::string_view, ErrorClass>;

constexpr std::array<Prefix, 12> kPrefixes = {{
    {"LOADING", ErrorClass::kLoading},
    {"READONLY", ErrorClass::kReadonly},
    {"OOM", ErrorClass::kOom},
    {"BUSY", ErrorClass::kBusy},
    {"NOPERM", ErrorClass::kNoperm},
    {"NOAUTH", ErrorClass::kNoauth},
    {"WRONGPASS", ErrorClass::kWrongpass},
    {"MASTERDOWN", ErrorClass::kMasterdown},
    {"MISCONF", ErrorClass::kMisconf},
    {"NOSCRIPT", ErrorClass::kNoscript},
    {"WRONGTYPE", ErrorClass::kWrongtype},
    {kOversizedError, ErrorClass::kOversized},
}};

}  // namespace

ErrorClass classify_error(std::string_view text) {
  const auto word = text.substr(0, text.find(' '));
  const auto it = std::find_if(kPrefixes.begin(), kPrefixes.end(),
                               [&](const Prefix& prefix) { return prefix.first == word; });
  if (it != kPrefixes.end()) return it->second;
  if (text.starts_with("ERR max number of clients reached")) return ErrorClass::kMaxClients;
  if (text.starts_with("ERR The user executing the script can't ")) {
    return ErrorClass::kScriptDenied;
  }
  // Redis names the place: "... script: <sha>, on @user_script:<line>."
  if (text.find("user_script:") != text.npos) return ErrorClass::kScriptFailed;
  return ErrorClass::kOther;
}

std::string_view error_name(ErrorClass error) {
  switch (error) {
    case ErrorClass::kNone:
      return "none";
    case ErrorClass::kLoading:
      return "loading";
    case ErrorClass::kReadonly:
      return "readonly";
    case ErrorClass::kOom:
      return "oom";
    case ErrorClass::kBusy:
      return "busy";
    case ErrorClass::kNoperm:
      return "noperm";
    case ErrorClass::kNoauth:
      return "noauth";
    case ErrorClass::kWrongpass:
      return "wrongpass";
    case ErrorClass::kMasterdown:
      return "masterdown";
    case ErrorClass::kMisconf:
      return "misconf";
    case ErrorClass::kNoscript:
      return "noscript";
    case ErrorClass::kWrongtype:
      return "wrongtype";
    case ErrorClass::kMaxClients:
      return "max_clients";
    case ErrorClass::kScriptDenied:
      return "script_denied";
    case ErrorClass::kScriptFailed:
      return "script_failed";
    case ErrorClass::kOversized:
      return "oversized";
    case ErrorClass::kOther:
      return "other";
  }
  return "other";
}

}  // namespace han::cache
