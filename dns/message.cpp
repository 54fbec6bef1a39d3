#include "dns/message.h"

#include <algorithm>
#include <array>

namespace han::dns {
namespace {

constexpr std::size_t kMessageMax = 65535;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kNameMax = 255;
constexpr std::size_t kLabelMax = 63;
// A name of kNameMax bytes has no more labels, and needs no more pointers.
constexpr int kPointersMax = 127;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kTypeA = 1;
constexpr std::uint16_t kTypeNs = 2;
constexpr std::uint16_t kTypeCname = 5;
constexpr std::uint16_t kTypeSoa = 6;
constexpr std::uint16_t kTypeAaaa = 28;
constexpr std::uint16_t kTypeOpt = 41;

using Bytes = std::span<const std::uint8_t>;

bool is_plain(std::uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void append_label(std::string& name, Bytes label) {
  if (!name.empty()) name += '.';
  for (const std::uint8_t byte : label) {
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    const auto c = static_cast<std::uint8_t>(is_capital ? byte + ('a' - 'A') : byte);
    if (is_plain(c)) {
      name += static_cast<char>(c);
      continue;
    }
    name += '\\';
    name += static_cast<char>('0' + c / 100);
    name += static_cast<char>('0' + c / 10 % 10);
    name += static_cast<char>('0' + c % 10);
  }
}

// Takes parts off the front; after a failure it stays failed.
class Cursor {
 public:
  explicit Cursor(Bytes message) : message_(message) {}

  bool has_failed() const { return has_failed_; }
  std::size_t at() const { return at_; }

  std::uint16_t u16() {
    const Bytes two = take(2);
    return two.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(two[0] << 8 | two[1]);
  }

  std::uint32_t u32() {
    const std::uint32_t high = u16();
    return high << 16 | u16();
  }

  Bytes take(std::size_t size) {
    if (has_failed_ || size > message_.size() - at_) {
      has_failed_ = true;
      return {};
    }
    const Bytes out = message_.subspan(at_, size);
    at_ += size;
    return out;
  }

  // A name, and the cursor behind it. Each pointer leads before the place where the part of the
  // name that holds it begins, so there are no loops; nor are there more pointers than labels could
  // need, so a chain of nothing but pointers, which each record may name again, costs little.
  std::string name() {
    std::string out;
    std::size_t wire_bytes = 1;
    std::size_t place = at_;
    std::size_t bound = at_;
    int pointers = 0;
    while (!has_failed_) {
      if (place >= message_.size()) break;
      const std::uint8_t length = message_[place];
      if (length == 0) {
        if (pointers == 0) at_ = place + 1;
        return out;
      }
      if (length >= 0xc0) {
        if (place + 1 >= message_.size()) break;
        const std::size_t target =
            static_cast<std::size_t>(length & 0x3fU) << 8 | message_[place + 1];
        if (pointers == 0) at_ = place + 2;
        if (target >= bound || ++pointers > kPointersMax) break;
        bound = target;
        place = target;
        continue;
      }
      wire_bytes += length + std::size_t{1};
      const bool fits =
          length <= kLabelMax && wire_bytes <= kNameMax && length < message_.size() - place;
      if (!fits) break;
      append_label(out, message_.subspan(place + 1, length));
      place += length + std::size_t{1};
    }
    has_failed_ = true;
    return {};
  }

 private:
  Bytes message_;
  std::size_t at_ = 0;
  bool has_failed_ = false;
};

struct Counts {
  std::uint16_t questions = 0;
  std::uint16_t answers = 0;
  std::uint16_t authorities = 0;
  std::uint16_t additionals = 0;
};

std::optional<MessageHead> read_head(Cursor& cursor, Counts& counts) {
  MessageHead head;
  head.id = cursor.u16();
  const std::uint16_t flags = cursor.u16();
  head.is_response = (flags & 0x8000U) != 0;
  head.is_authoritative = (flags & 0x0400U) != 0;
  head.is_truncated = (flags & 0x0200U) != 0;
  head.rcode = static_cast<Rcode>(flags & 0x000fU);
  counts = {cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16()};
  for (std::uint16_t i = 0; i < counts.questions && !cursor.has_failed(); ++i) {
    Question question{cursor.name(), RecordType::kA};
    const std::uint16_t type = cursor.u16();
    const bool is_in = cursor.u16() == kClassIn;
    if (type == kTypeAaaa) question.type = RecordType::kAaaa;
    const bool is_ours = is_in && (type == kTypeA || type == kTypeAaaa);
    if (counts.questions == 1 && is_ours) head.question = std::move(question);
  }
  if (cursor.has_failed()) return std::nullopt;
  return head;
}

struct Record {
  std::string owner;
  std::uint16_t type = 0;
  std::uint16_t record_class = 0;
  std::uint32_t raw_ttl = 0;
  std::size_t data_at = 0;
  Bytes data;

  // RFC 2181 section 8.
  std::uint32_t ttl() const { return raw_ttl > 0x7fffffffU ? 0 : raw_ttl; }
  bool is(std::uint16_t wanted) const { return type == wanted && record_class == kClassIn; }
};

Record read_record(Cursor& cursor) {
  Record record;
  record.owner = cursor.name();
  record.type = cursor.u16();
  record.record_class = cursor.u16();
  record.raw_ttl = cursor.u32();
  const std::uint16_t size = cursor.u16();
  record.data_at = cursor.at();
  record.data = cursor.take(size);
  return record;
}

// A cursor that ends with the record's data and may still follow compression backwards.
Cursor data_cursor(Bytes message, const Record& record) {
  Cursor cursor(message.first(record.data_at + record.data.size()));
  cursor.take(record.data_at);
  return cursor;
}

// False when the record is not well formed.
bool keep_answer(Bytes message, const Record& record, Message& out) {
  if (record.is(kTypeA) || record.is(kTypeAaaa)) {
    const std::size_t size = record.is(kTypeA) ? 4 : 16;
    const auto address = safety::IpAddress::from_bytes(record.data);
    if (record.data.size() != size || !address) return false;
    out.addresses.push_back({record.owner, record.ttl(), *address});
  } else if (record.is(kTypeCname)) {
    Cursor cursor = data_cursor(message, record);
    std::string target = cursor.name();
    const bool is_whole = cursor.at() == record.data_at + record.data.size();
    if (cursor.has_failed() || !is_whole) return false;
    out.cnames.push_back({record.owner, record.ttl(), std::move(target)});
  }
  return true;
}

bool keep_authority(Bytes message, const Record& record, Message& out) {
  if (record.is(kTypeNs)) out.has_authority_ns = true;
  if (!record.is(kTypeSoa)) return true;
  Cursor cursor = data_cursor(message, record);
  cursor.name();
  cursor.name();
  cursor.take(4 * 4);
  const std::uint32_t minimum = cursor.u32();
  const bool is_whole = cursor.at() == record.data_at + record.data.size();
  if (cursor.has_failed() || !is_whole) return false;
  out.soas.push_back({record.owner, record.ttl(), minimum > 0x7fffffffU ? 0 : minimum});
  return true;
}

void keep_additional(const Record& record, Message& out) {
  if (record.type != kTypeOpt) return;
  const std::uint32_t upper = record.raw_ttl >> 24;
  out.rcode = static_cast<Rcode>(upper << 4 | static_cast<std::uint32_t>(out.head.rcode));
}

}  // namespace

std::optional<MessageHead> parse_head(Bytes bytes) {
  if (bytes.size() < kHeaderBytes || bytes.size() > kMessageMax) return std::nullopt;
  Cursor cursor(bytes);
  Counts counts;
  return read_head(cursor, counts);
}

std::optional<Message> parse_message(Bytes bytes) {
  if (bytes.size() < kHeaderBytes || bytes.size() > kMessageMax) return std::nullopt;
  Cursor cursor(bytes);
  Counts counts;
  const auto head = read_head(cursor, counts);
  if (!head || !head->is_response) return std::nullopt;
  Message message{*head, head->rcode, {}, {}, {}, false};
  bool is_well_formed = true;
  const auto each = [&](std::uint16_t count, auto&& keep) {
    for (std::uint16_t i = 0; i < count && is_well_formed; ++i) {
      const Record record = read_record(cursor);
      is_well_formed = !cursor.has_failed() && keep(record);
    }
  };
  each(counts.answers, [&](const Record& r) { return keep_answer(bytes, r, message); });
  each(counts.authorities, [&](const Record& r) { return keep_authority(bytes, r, message); });
  each(counts.additionals, [&](const Record& r) {
    keep_additional(r, message);
    return true;
  });
  if (!is_well_formed) return std::nullopt;
  return message;
}

bool is_host_name(std::string_view host) {
  constexpr std::size_t kHostMax = 253;
  if (host.empty() || host.size() > kHostMax) return false;
  std::size_t label = 0;
  for (const char c : host) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else if (!is_plain(static_cast<std::uint8_t>(c)) || ++label > kLabelMax) {
      return false;
    }
  }
  return label > 0;
}

}  // namespace han::dns
