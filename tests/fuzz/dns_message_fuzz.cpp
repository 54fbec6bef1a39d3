// Fuzz target: what a DNS server may send. The first byte chooses the type and the limit; then
// responses follow, each behind its length in two bytes, and are read as answers to a question for
// "a.test". Whatever is answered respects the limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "dns/answer_reader.h"
#include "dns/message.h"
#include "safety/base/check.h"

namespace {

using namespace han::dns;
using Bytes = std::span<const std::uint8_t>;

// Of a name in a message: it is escaped, so no byte of it is odd.
void check_name(const std::string& name) {
  constexpr std::size_t kEscapedMax = std::size_t{255} * 4;
  SAFETY_CHECK(name.size() <= kEscapedMax);
  for (const char c : name) SAFETY_CHECK(c > ' ' && c < 0x7f && (c < 'A' || c > 'Z'));
}

void check_message(Bytes bytes) {
  const auto head = parse_head(bytes);
  const auto message = parse_message(bytes);
  SAFETY_CHECK(!message || head);
  if (!message) return;
  SAFETY_CHECK(message->head.id == head->id && message->head.question == head->question);
  // No record is smaller than 11 bytes, so their number is bounded by the message.
  const std::size_t records =
      message->addresses.size() + message->cnames.size() + message->soas.size();
  SAFETY_CHECK(records * 11 <= bytes.size());
  for (const AddressRecord& record : message->addresses) check_name(record.owner);
  for (const CnameRecord& record : message->cnames) {
    check_name(record.owner);
    check_name(record.target);
  }
}

void check_answer(const Answer& answer, RecordType type, std::size_t addresses_max) {
  const auto& found = answer.addresses;
  SAFETY_CHECK(found.empty() == (answer.kind != Answer::Kind::kAddresses));
  SAFETY_CHECK(found.size() <= addresses_max);
  SAFETY_CHECK(std::is_sorted(found.begin(), found.end()));
  SAFETY_CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
  for (const auto& address : found) SAFETY_CHECK(address.is_v4() == (type == RecordType::kA));
  SAFETY_CHECK(answer.chain.size() <= kChainMax);
  for (const std::string& name : answer.chain) check_name(name);
  SAFETY_CHECK(answer.ttl.count() >= 0 && answer.ttl <= kTtlMax);
  SAFETY_CHECK(!answer.is_stale);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Bytes rest(data + 1, size - 1);
  const RecordType type = data[0] % 2 == 0 ? RecordType::kA : RecordType::kAaaa;
  const std::size_t addresses_max = data[0] < 128 ? 4 : kAddressesMax;
  AnswerReader reader({"a.test", type}, addresses_max);
  std::size_t responses = 0;
  while (rest.size() >= 2) {
    const std::size_t wanted = static_cast<std::size_t>(rest[0]) << 8 | rest[1];
    const Bytes response = rest.subspan(2, std::min(wanted, rest.size() - 2));
    rest = rest.subspan(2 + response.size());
    check_message(response);
    SAFETY_CHECK(is_host_name(reader.asked().host));
    const auto outcome = reader.read(response);
    SAFETY_CHECK(++responses <= kChainMax + 1);
    if (!outcome) continue;
    if (const auto* answer = std::get_if<Answer>(&*outcome)) {
      check_answer(*answer, type, addresses_max);
    }
    return 0;
  }
  return 0;
}
