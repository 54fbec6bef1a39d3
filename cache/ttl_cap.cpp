#include "cache/ttl_cap.h"

namespace han::cache {

std::chrono::milliseconds ttl_cap(KeyKind kind) {
  constexpr std::chrono::hours kDay{24};
  switch (kind) {
    case KeyKind::kText:
    case KeyKind::kLink:
    case KeyKind::kRate:
      return 2 * kDay;
    case KeyKind::kVerdict:
      return 30 * kDay;
    case KeyKind::kDns:
      return std::chrono::seconds(900);
  }
  return std::chrono::milliseconds(0);
}

}  // namespace han::cache
