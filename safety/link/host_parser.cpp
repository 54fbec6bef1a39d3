#include "safety/link/host_parser.h"

#include <optional>

#include "safety/link/idna.h"
#include "safety/link/ip_literal.h"
#include "safety/link/percent.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

using detail::HostByte;

using Result = std::variant<HostKind, UrlError>;

HostByte host_byte(char byte) { return detail::kHostBytes[static_cast<unsigned char>(byte)]; }

// Section 3.2, forbidden host code point: NULL, tab, LF, CR and the printable ones. Other controls
// are percent-encoded in an opaque host.
bool is_forbidden_in_opaque(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0x20) return value == 0 || value == '\t' || value == '\n' || value == '\r';
  return value != 0x7F && host_byte(byte) == HostByte::kForbidden;
}

// Section 3.5, opaque-host parser.
Result append_opaque(std::string& out, std::string_view text) {
  for (const char byte : text) {
    if (is_forbidden_in_opaque(byte)) return UrlError::kHostCode;
  }
  append_encoded(out, text, EncodeSet::kC0Control);
  return HostKind::kOpaque;
}

// Section 3.3, domain to ASCII, for a domain of ASCII alone; false at a forbidden byte.
bool append_lower(std::string& out, std::string_view domain) {
  const std::size_t start = out.size();
  out.append(domain);
  for (std::size_t i = start; i < out.size(); ++i) {
    const HostByte kind = host_byte(out[i]);
    if (kind == HostByte::kPlain) continue;
    if (kind != HostByte::kUpper) return false;
    out[i] = static_cast<char>(out[i] | 0x20);
  }
  return true;
}

std::optional<UrlError> append_domain(std::string& out, std::string_view domain) {
  if (ascii_prefix(domain) == domain.size()) {
    if (!append_lower(out, domain)) return UrlError::kHostCode;
    return std::nullopt;
  }
  std::string ascii;
  if (const auto error = append_domain_to_ascii(ascii, domain)) return error;
  if (!append_lower(out, ascii)) return UrlError::kHostCode;
  return std::nullopt;
}

Result append_special(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  if (text.find('%') == std::string_view::npos) {
    if (const auto error = append_domain(out, text)) return *error;
  } else {
    std::string buffer;
    const std::string decoded = percent_decode(text);
    if (const auto error = append_domain(out, repair_utf8(decoded, buffer))) return *error;
  }
  const std::string_view host = std::string_view(out).substr(start);
  if (host.empty()) return UrlError::kEmptyHost;
  if (!ends_in_number(host)) return HostKind::kDomain;
  const auto address = parse_ipv4_host(host);
  if (!address) return UrlError::kIpv4;
  out.resize(start);
  append_ipv4(out, *address);
  return HostKind::kIpv4;
}

}  // namespace

// Section 3.5, host parser.
Result append_host(std::string& out, std::string_view text, bool is_special) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return UrlError::kIpv6;
    const auto address = parse_ipv6_host(text.substr(1, text.size() - 2));
    if (!address) return UrlError::kIpv6;
    append_ipv6(out, *address);
    return HostKind::kIpv6;
  }
  return is_special ? append_special(out, text) : append_opaque(out, text);
}

}  // namespace han::safety
