#include "safety/link/host_features.h"

#include <string>

#include "safety/link/confusables.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::string_view kLocalDomains[] = {
    "localhost", "local", "internal",    "home.arpa", "onion", "alt",
    "lan",       "home",  "localdomain", "intranet",  "corp",  "private",
};

bool is_address(std::string_view host) {
  if (host.starts_with('[')) return true;
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_under(std::string_view host, std::string_view domain) {
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

void add_label(std::string_view label, std::string_view top_domain, HostFeatures& out) {
  const bool is_alabel = label.starts_with("xn--");
  out.punycode |= is_alabel;
  if (!is_alabel && ascii_prefix(label) == label.size()) return;
  if (!is_alabel && !is_valid_utf8(label)) return;
  const std::string ulabel = is_alabel ? unicode_label(label) : std::string(label);
  out.mixed_script |= is_mixed_script(ulabel);
  out.confusable |= is_confusable(ulabel, top_domain);
}

}  // namespace

HostFeatures host_features(std::string_view ahost) {
  HostFeatures out;
  if (ahost.empty() || is_address(ahost)) return out;
  const std::size_t last_dot = ahost.rfind('.');
  out.single_label = last_dot == std::string_view::npos;
  for (const std::string_view domain : kLocalDomains) out.local_name |= is_under(ahost, domain);
  const bool is_plain =
      ascii_prefix(ahost) == ahost.size() && ahost.find("xn--") == std::string_view::npos;
  if (is_plain) return out;
  const std::string_view top_domain = ahost.substr(last_dot + 1);
  while (true) {
    const std::size_t dot = ahost.find('.');
    add_label(ahost.substr(0, dot), top_domain, out);
    if (dot == std::string_view::npos) return out;
    ahost.remove_prefix(dot + 1);
  }
}

}  // namespace han::safety
