#include "safety/link_subject.h"

#include <utility>
#include <variant>

#include "safety/link/canonical_host.h"
#include "safety/link/list_chain_index.h"

namespace han::safety {
namespace {

constexpr std::string_view kLinkLabel = "link";
constexpr std::string_view kLocalHost = "localhost";

}  // namespace

std::optional<LinkSubject> link_subject(std::string_view raw_url) {
  auto parsed = Url::parse(raw_url);
  Url* url = std::get_if<Url>(&parsed);
  if (url == nullptr) return std::nullopt;
  PolicyKey key = policy_key(*url);
  std::string host;
  std::optional<IpAddress> address = url->ip();
  if (url->host_kind() == HostKind::kDomain || url->host_kind() == HostKind::kOpaque) {
    // The parser keeps dots at the end; what is left without them may be an address.
    host = canonical_host(url->host());
    address = address_of_host(host);
    const bool is_opaque = url->host_kind() == HostKind::kOpaque;
    if (host.empty() && !is_opaque) return std::nullopt;
    const bool is_name = !is_opaque || host == kLocalHost || host.find('.') != std::string::npos;
    if (address || !is_name) host.clear();
  }
  return LinkSubject{std::move(*url), std::move(key), std::move(host), address};
}

Digest url_hash(const HmacKey& pepper, const LinkSubject& subject) {
  return pepper.mac(kLinkLabel, subject.url.fetch_identity());
}

Digest url_hash(const HmacKey& pepper, std::string_view invalid_url) {
  return pepper.mac(kLinkLabel, invalid_url);
}

Digest host_hash(const HmacKey& pepper, std::string_view host) {
  return pepper.mac(kDnsHashLabel, host);
}

std::vector<Digest> suffix_hashes(const HmacKey& pepper, std::string_view host) {
  std::vector<Digest> hashes;
  while (!host.empty()) {
    hashes.push_back(host_hash(pepper, host));
    const std::size_t dot = host.find('.');
    host = dot == std::string_view::npos ? std::string_view() : host.substr(dot + 1);
  }
  return hashes;
}

}  // namespace han::safety
