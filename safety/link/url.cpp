#include "safety/link/url.h"

#include "safety/link/plain_url.h"
#include "safety/link/url_parser.h"

namespace han::safety {
namespace {

std::string plain_href(std::string_view text, const PlainUrl& plain) {
  const std::size_t path_begin = plain.at.path_begin;
  std::string href;
  href.reserve(text.size() + 1);
  if (plain.lacks_path) {
    href.append(text.substr(0, path_begin)).append("/").append(text.substr(path_begin));
  } else {
    href.append(text);
  }
  if (plain.has_upper) {
    for (std::size_t i = 0; i < plain.at.host_end; ++i) {
      if (href[i] >= 'A' && href[i] <= 'Z') href[i] = static_cast<char>(href[i] | 0x20);
    }
  }
  return href;
}

}  // namespace

std::variant<Url, UrlError> Url::parse(std::string_view input, const Url* base) {
  if (input.size() > kUrlBytesMax) return UrlError::kTooLong;
  if (const auto plain = read_plain_url(input)) return Url(plain_href(input, *plain), plain->at);
  return UrlParser(base).run(input);
}

std::optional<IpAddress> Url::ip() const {
  if (at_.host_kind == HostKind::kIpv4) return IpAddress::parse(host());
  if (at_.host_kind != HostKind::kIpv6) return std::nullopt;
  return IpAddress::parse(host().substr(1, host().size() - 2));
}

}  // namespace han::safety
