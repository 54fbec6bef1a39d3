#include "dns/answer.h"

namespace han::dns {

std::string_view to_string(RecordType type) { return type == RecordType::kA ? "A" : "AAAA"; }

std::string_view to_string(Failure failure) {
  switch (failure) {
    case Failure::kTruncated:
      return "dns_truncated";
    case Failure::kLoop:
      return "dns_loop";
    case Failure::kChain:
      return "dns_chain";
    case Failure::kLimit:
      return "dns_limit";
    case Failure::kMalformed:
      return "dns_malformed";
    case Failure::kServfail:
      return "dns_servfail";
    case Failure::kRefused:
      return "dns_refused";
    case Failure::kTimeout:
      return "dns_timeout";
    case Failure::kUnreachable:
      return "dns_unreachable";
    case Failure::kOverload:
      return "dns_overload";
    case Failure::kStopped:
      return "dns_stopped";
  }
  return "dns_malformed";
}

bool is_permanent(Failure failure) { return failure <= Failure::kMalformed; }

}  // namespace han::dns
