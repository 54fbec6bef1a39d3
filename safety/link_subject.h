// LinkSubject: a link as it is judged: its URL, its policy key and the name to resolve.
//
// Threads: values and pure functions. Blocks: never. Fails: link_subject gives nullopt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/digest.h"
#include "safety/base/ip_address.h"
#include "safety/link/policy_key.h"
#include "safety/link/url.h"

namespace han::safety {

struct LinkSubject {
  Url url;
  PolicyKey key;
  // The name that is resolved: A-labels, lower case, no trailing dot. Empty: the host is an
  // address, or there is none. That of a scheme unknown to WHATWG has a dot, or is "localhost":
  // other such hosts are no names ("tg://resolve").
  std::string host;
  // When the host is an address, however it is written.
  std::optional<IpAddress> address;
};

// Nullopt: no URL, or a host that no name can have (longer than DNS allows, dots alone); such a
// link is judged as invalid.
std::optional<LinkSubject> link_subject(std::string_view raw_url);

// HMAC(pepper, "link" || fetch identity): the subject of caches and verdict rows (SPEC section 5).
Digest url_hash(const HmacKey& pepper, const LinkSubject& subject);
// Of a link that is no URL: over its bytes, which no fetch identity has.
Digest url_hash(const HmacKey& pepper, std::string_view invalid_url);
// HMAC(pepper, "dns" || host).
Digest host_hash(const HmacKey& pepper, std::string_view host);
// The hash of `host` and of each name above it, the whole one first.
std::vector<Digest> suffix_hashes(const HmacKey& pepper, std::string_view host);

}  // namespace han::safety
