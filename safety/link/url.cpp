#include "safety/link/url.h"

#include "safety/link/url_parser.h"

namespace han::safety {

std::variant<Url, UrlError> Url::parse(std::string_view input, const Url* base) {
  if (input.size() > kUrlBytesMax) return UrlError::kTooLong;
  return UrlParser(base).run(input);
}

std::optional<IpAddress> Url::ip() const {
  if (at_.host_kind == HostKind::kIpv4) return IpAddress::parse(host());
  if (at_.host_kind != HostKind::kIpv6) return std::nullopt;
  return IpAddress::parse(host().substr(1, host().size() - 2));
}

}  // namespace han::safety
