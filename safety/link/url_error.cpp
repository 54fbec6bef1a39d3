#include "safety/link/url_error.h"

namespace han::safety {

std::string_view to_string(UrlError error) {
  switch (error) {
    case UrlError::kTooLong:
      return "too_long";
    case UrlError::kNoScheme:
      return "no_scheme";
    case UrlError::kEmptyHost:
      return "empty_host";
    case UrlError::kCredentials:
      return "credentials";
    case UrlError::kHostCode:
      return "host_code";
    case UrlError::kHostLength:
      return "host_length";
    case UrlError::kIdna:
      return "idna";
    case UrlError::kIpv4:
      return "ipv4";
    case UrlError::kIpv6:
      return "ipv6";
    case UrlError::kPort:
      return "port";
  }
  return "unknown";
}

}  // namespace han::safety
