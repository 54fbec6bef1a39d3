#include "safety/link/url.h"

#include "safety/link/plain_url.h"
#include "safety/link/url_parser.h"

namespace han::safety {
namespace {

std::string plain_href(std::string_view text, const UrlLayout& at) {
  const bool has_path = at.path_begin < text.size() && text[at.path_begin] == '/';
  if (has_path) return std::string(text);
  std::string href;
  href.reserve(text.size() + 1);
  href.append(text.substr(0, at.path_begin)).append("/").append(text.substr(at.path_begin));
  return href;
}

}  // namespace

std::variant<Url, UrlError> Url::parse(std::string_view input, const Url* base) {
  if (input.size() > kUrlBytesMax) return UrlError::kTooLong;
  if (const auto plain = read_plain_url(input)) return Url(plain_href(input, *plain), *plain);
  return UrlParser(base).run(input);
}

std::optional<IpAddress> Url::ip() const {
  if (at_.host_kind == HostKind::kIpv4) return IpAddress::parse(host());
  if (at_.host_kind != HostKind::kIpv6) return std::nullopt;
  return IpAddress::parse(host().substr(1, host().size() - 2));
}

}  // namespace han::safety
