#include "cache/trouble.h"

namespace han::cache {

std::string_view trouble_name(Trouble trouble) {
  switch (trouble) {
    case Trouble::kNone:
      return "none";
    case Trouble::kTimeout:
      return "timeout";
    case Trouble::kClosed:
      return "closed";
    case Trouble::kProtocol:
      return "protocol";
    case Trouble::kRefused:
      return "refused";
    case Trouble::kNameUnknown:
      return "name_unknown";
    case Trouble::kRejected:
      return "rejected";
    case Trouble::kEndpoint:
      return "endpoint";
    case Trouble::kTls:
      return "tls";
    case Trouble::kUntrusted:
      return "untrusted";
    case Trouble::kInterrupted:
      return "interrupted";
  }
  return "closed";
}

}  // namespace han::cache
