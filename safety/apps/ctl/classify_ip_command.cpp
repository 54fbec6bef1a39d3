#include "safety/apps/ctl/classify_ip_command.h"

#include <nlohmann/json.hpp>

#include "dns/address_class.h"
#include "safety/apps/ctl/json_string.h"
#include "safety/apps/ctl/line_filter.h"
#include "safety/base/ip_address.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

std::optional<Json> answer(std::string_view line) {
  const auto text = decode_json_string(line);
  if (!text) return std::nullopt;
  std::string buffer;
  Json json;
  json["input"] = repair_utf8(*text, buffer);
  const auto address = IpAddress::parse(*text);
  if (!address) {
    json["error"] = "no_address";
    return json;
  }
  const dns::AddressClass found = dns::classify(*address);
  json["class"] = found.name;
  json["global"] = found.is_global;
  json["embedded"] = nullptr;
  if (found.embedded) json["embedded"] = found.embedded->str();
  return json;
}

}  // namespace

void add_classify_ip_command(CLI::App& app, Command& command) {
  add_filter(
      app, command,
      {"classify-ip", "Name the classes of addresses, one JSON string a line; prints JSON lines",
       "echo '\"64:ff9b::10.0.0.1\"' | safetyctl classify-ip\n"
       "IPv4 inside IPv6 is judged by the inner address, which is \"embedded\". A text that is no\n"
       "address in its strict form gives {\"input\",\"error\"}; url reads the other spellings.",
       InputField::kShown, "one address as a JSON string", answer});
}

}  // namespace han::safety
