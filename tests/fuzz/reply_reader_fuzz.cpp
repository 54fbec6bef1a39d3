// Fuzz target: what a server may answer. The first byte chooses how the rest is cut into pieces;
// the outcome must not depend on it, and what was read must respect the limits.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/protocol.h"
#include "safety/base/check.h"

namespace {

using namespace han::cache;

constexpr ReplyLimits kLimits{
    .value_bytes_max = 64, .dropped_bytes_max = 4096, .elements_max = 128, .call_bytes_max = 4096};

std::size_t count_checked(const Reply& reply, std::size_t depth) {
  SAFETY_CHECK(depth <= FrameCheck::kDepthMax);
  SAFETY_CHECK(reply.kind != Reply::Kind::kBulk || reply.text.size() <= kLimits.value_bytes_max);
  SAFETY_CHECK(!reply.is_error() || reply.text.empty());
  std::size_t count = reply.elements.size();
  for (const Reply& element : reply.elements) count += count_checked(element, depth + 1);
  return count;
}

struct Outcome {
  std::size_t replies = 0;
  bool is_broken = false;
  bool operator==(const Outcome&) const = default;
};

Outcome read_all(std::string_view stream, std::size_t step) {
  ReplyReader reader(kLimits);
  Outcome outcome;
  while (!stream.empty() && !outcome.is_broken) {
    const auto piece = stream.substr(0, step);
    stream.remove_prefix(piece.size());
    outcome.is_broken = !reader.feed(piece);
    Reply reply;
    while (reader.next(reply) == ReplyReader::Outcome::kReply) {
      SAFETY_CHECK(count_checked(reply, 0) <= kLimits.elements_max);
      ++outcome.replies;
    }
    SAFETY_CHECK(outcome.is_broken || reader.next(reply) == ReplyReader::Outcome::kNeedsMore);
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read_all(stream, stream.size());
  const auto pieces = read_all(stream, std::size_t{1} + data[0] % 16);
  // In pieces, the replies before the fault are still delivered.
  SAFETY_CHECK(whole.is_broken == pieces.is_broken);
  SAFETY_CHECK(whole.is_broken || whole.replies == pieces.replies);
  return 0;
}
