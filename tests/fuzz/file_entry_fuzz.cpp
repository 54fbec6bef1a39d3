// Fuzz target: what may stand under a key of a file's content.
#include "cache/file_entry.h"
#include "tests/fuzz/entry_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const han::cache::VerdictKey kKey(han::tests::fuzz_digest(), han::tests::kFuzzVersion,
                                           han::tests::kFuzzOtherVersion);
  return han::tests::fuzz_entry<han::cache::FileEntry>(kKey, data, size);
}
