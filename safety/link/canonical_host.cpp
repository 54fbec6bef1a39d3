#include "safety/link/canonical_host.h"

#include "safety/link/host_parser.h"
#include "safety/link/ip_literal.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kNameBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

bool fits_dns(std::string_view name) {
  if (name.size() > kNameBytesMax) return false;
  while (true) {
    const std::size_t dot = name.find('.');
    if (name.substr(0, dot).size() > kLabelBytesMax) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string without_extra_dots(std::string_view host) {
  std::string out;
  out.reserve(host.size());
  for (const char c : host) {
    if (c != '.' || (!out.empty() && out.back() != '.')) out += c;
  }
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string canonical_host(std::string_view host) {
  if (host.size() > kHostBytesMax || host.find('%') != std::string_view::npos) return {};
  if (!is_valid_utf8(host)) return {};
  std::string spelled = without_extra_dots(host);
  // Twice, because dots that only IDNA makes are stripped after it.
  for (int round = 0; round < 2; ++round) {
    if (spelled.empty()) return {};
    std::string out;
    const auto parsed = append_host(out, spelled, true);
    const auto* kind = std::get_if<HostKind>(&parsed);
    if (kind == nullptr) return {};
    if (*kind != HostKind::kDomain) return out;
    spelled = without_extra_dots(out);
    if (spelled == out) return fits_dns(out) ? out : std::string();
  }
  return fits_dns(spelled) ? spelled : std::string();
}

std::optional<IpAddress> address_of_host(std::string_view canonical) {
  if (canonical.starts_with('[') && canonical.ends_with(']')) {
    canonical = canonical.substr(1, canonical.size() - 2);
  }
  return IpAddress::parse(canonical);
}

}  // namespace han::safety
