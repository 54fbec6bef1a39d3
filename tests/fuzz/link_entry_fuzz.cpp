// Fuzz target: what may stand under a key of a link.
#include "cache/link_entry.h"
#include "tests/fuzz/entry_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const han::cache::LinkKey kKey(han::tests::fuzz_digest(), han::tests::kFuzzVersion,
                                        han::tests::kFuzzOtherVersion);
  return han::tests::fuzz_entry<han::cache::LinkEntry>(kKey, data, size);
}
