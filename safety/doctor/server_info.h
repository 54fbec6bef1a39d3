// ServerInfo: the fields of Redis' INFO, read leniently: what is not there is not known.
// Source: the INFO command's page of redis.io: "name:value" lines below "# Section" lines.
//
// Threads: a value. Blocks: never.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

class ServerInfo {
 public:
  explicit ServerInfo(std::string_view text);

  std::optional<std::string> text(std::string_view name) const;
  // Nullopt too when the value is no whole number.
  std::optional<std::int64_t> number(std::string_view name) const;
  // The keys of a database by its number, of "db0:keys=12,expires=12,avg_ttl=0".
  std::map<int, std::int64_t> keys_of_databases() const;
  // The first number of redis_version; 0 when it is not known.
  int major_version() const;

 private:
  std::map<std::string, std::string, std::less<>> fields_;
};

}  // namespace han::safety
