// Fuzz target: policy keys, canonical hosts and the features of hosts. The key of a key is itself;
// raw bytes and the parsed URL have one key where both have one; expressions are bounded and are
// pieces of the key; a canonical host is its own canonical form.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "safety/base/check.h"
#include "safety/link/canonical_host.h"
#include "safety/link/host_features.h"
#include "safety/link/policy_key.h"
#include "safety/link/url.h"
#include "safety/text/utf8.h"

using namespace han::safety;

namespace {

void check_key(const PolicyKey& key) {
  const KeyExpressions expressions = key.expressions();
  SAFETY_CHECK(expressions.size() <= kExpressionsMax);
  SAFETY_CHECK(key.host().empty() == (expressions.size() == 0));
  const std::string_view whole = key.canonical();
  for (const std::string_view one : expressions) {
    SAFETY_CHECK(one.data() >= whole.data());
    SAFETY_CHECK(one.data() + one.size() <= whole.data() + whole.size());
  }
  SAFETY_CHECK(!key.host().starts_with('.') && !key.host().ends_with('.'));
  (void)host_features(key.host());
}

// WHATWG's rules for drive letters are not part of the raw form.
bool is_comparable(std::string_view bytes, const Url& url) {
  return is_valid_utf8(bytes) && url.scheme() != "file" && !url.host().empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto raw = policy_key(bytes);
  if (raw) {
    check_key(*raw);
    SAFETY_CHECK(!raw->host().empty());
    const auto again = policy_key(raw->canonical());
    const bool is_too_long = raw->canonical().size() > kPolicyKeyBytesMax;
    SAFETY_CHECK(is_too_long || (again && *again == *raw));
  }
  const auto parsed = Url::parse(bytes);
  if (const auto* url = std::get_if<Url>(&parsed)) {
    const PolicyKey key = policy_key(*url);
    check_key(key);
    if (raw && is_comparable(bytes, *url)) SAFETY_CHECK(key == *raw);
  }
  const std::string host = canonical_host(bytes);
  if (!host.empty()) {
    SAFETY_CHECK(canonical_host(host) == host);
    (void)host_features(host);
  }
  return 0;
}
