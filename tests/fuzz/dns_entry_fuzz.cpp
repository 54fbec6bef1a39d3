// Fuzz target: what may stand under a key of a host and record type.
#include "cache/dns_entry.h"
#include "tests/fuzz/entry_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const han::cache::DnsKey kKey(han::tests::fuzz_digest(), "AAAA");
  return han::tests::fuzz_entry<han::cache::DnsEntry>(kKey, data, size);
}
