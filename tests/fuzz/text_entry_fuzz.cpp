// Fuzz target: what may stand under a key of a text.
#include "cache/text_entry.h"
#include "tests/fuzz/entry_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const han::cache::TextKey kKey(han::tests::fuzz_digest(), han::tests::kFuzzVersion);
  return han::tests::fuzz_entry<han::cache::TextEntry>(kKey, data, size);
}
