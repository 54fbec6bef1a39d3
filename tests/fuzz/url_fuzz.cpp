// Fuzz target: the URL parser. What is serialised reads as itself, its parts make up the whole, and
// the short way for plain URLs takes nothing that the parser takes otherwise.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "safety/base/check.h"
#include "safety/link/plain_url.h"
#include "safety/link/url.h"
#include "safety/link/url_parser.h"

using namespace han::safety;

namespace {

std::string joined(const Url& url) {
  std::string out(url.scheme());
  out += ':';
  if (url.host_kind() != HostKind::kNone) {
    out += "//";
    if (url.has_credentials()) {
      out += url.username();
      if (!url.password().empty()) out.append(":").append(url.password());
      out += '@';
    }
    out += url.host();
    if (url.port()) out.append(":").append(std::to_string(*url.port()));
  } else if (url.path().starts_with("//")) {
    out += "/.";
  }
  out += url.path();
  if (url.layout().path_end < url.layout().query_end) out.append("?").append(url.query());
  if (url.layout().query_end < url.href().size()) out.append("#").append(url.fragment());
  return out;
}

bool has_address(const Url& url) {
  return url.host_kind() == HostKind::kIpv4 || url.host_kind() == HostKind::kIpv6;
}

void check_url(const Url& url) {
  for (const char byte : url.href()) SAFETY_CHECK(byte >= 0x20 && byte < 0x7F);
  SAFETY_CHECK(joined(url) == url.href());
  SAFETY_CHECK(url.href().starts_with(url.fetch_identity()));
  SAFETY_CHECK(url.ip().has_value() == has_address(url));
  const bool needs_host = url.is_special() && url.scheme() != "file";
  SAFETY_CHECK(!needs_host || !url.host().empty());
  if (url.href().size() > kUrlBytesMax) return;
  const auto again = Url::parse(url.href());
  const auto* same = std::get_if<Url>(&again);
  SAFETY_CHECK(same != nullptr);
  SAFETY_CHECK(same->href() == url.href());
  SAFETY_CHECK(same->host_kind() == url.host_kind());
  SAFETY_CHECK(same->path() == url.path());
  SAFETY_CHECK(same->query() == url.query());
}

}  // namespace

// The first line is the base, where there are two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::variant<Url, UrlError> base = UrlError::kNoScheme;
  const std::size_t line_end = text.find('\n');
  if (line_end != std::string_view::npos) {
    base = Url::parse(text.substr(0, line_end));
    text.remove_prefix(line_end + 1);
  }
  const Url* base_url = std::get_if<Url>(&base);
  if (base_url != nullptr) check_url(*base_url);
  const auto parsed = Url::parse(text, base_url);
  const auto* url = std::get_if<Url>(&parsed);
  if (url == nullptr) {
    SAFETY_CHECK(to_string(std::get<UrlError>(parsed)) != "unknown");
    return 0;
  }
  check_url(*url);
  const auto slowly = UrlParser(base_url).run(text);
  SAFETY_CHECK(std::holds_alternative<Url>(slowly));
  SAFETY_CHECK(std::get<Url>(slowly).href() == url->href());
  SAFETY_CHECK(joined(std::get<Url>(slowly)) == url->href());
  return 0;
}
