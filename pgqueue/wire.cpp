#include "pgqueue/wire.h"

#include <libpq-fe.h>

#include <algorithm>
#include <type_traits>

#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

// Appends and reads integers in network byte order.
template <typename T>
void append(std::string& out, T value) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto bits = static_cast<Unsigned>(value);
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<unsigned char>(bits >> shift));
  }
}

template <typename T>
T read(std::string_view bytes, std::size_t offset = 0) {
  using Unsigned = std::make_unsigned_t<T>;
  SAFETY_CHECK(offset + sizeof(T) <= bytes.size());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits = (bits << 8) | static_cast<unsigned char>(bytes[offset + i]);
  }
  return static_cast<T>(static_cast<Unsigned>(bits));
}

template <typename T>
std::string encode(T value) {
  std::string out;
  append(out, value);
  return out;
}

std::string_view view(const Uuid& value) { return safety::as_text(value.bytes); }

Oid array_of(Oid element) {
  switch (element) {
    case Oid::kBytea:
      return Oid::kByteaArray;
    case Oid::kInt2:
      return Oid::kInt2Array;
    case Oid::kInt4:
      return Oid::kInt4Array;
    case Oid::kInt8:
      return Oid::kInt8Array;
    case Oid::kText:
      return Oid::kTextArray;
    case Oid::kUuid:
      return Oid::kUuidArray;
    case Oid::kBool:
    case Oid::kByteaArray:
    case Oid::kInt2Array:
    case Oid::kInt4Array:
    case Oid::kTextArray:
    case Oid::kInt8Array:
    case Oid::kUuidArray:
      break;
  }
  safety::check_failed("element type has no array type here", __FILE__, __LINE__);
}

}  // namespace

Param Param::int2(std::int16_t value) { return {Oid::kInt2, encode(value)}; }
Param Param::int4(std::int32_t value) { return {Oid::kInt4, encode(value)}; }
Param Param::int8(std::int64_t value) { return {Oid::kInt8, encode(value)}; }
Param Param::boolean(bool value) { return {Oid::kBool, std::string(1, value ? '\1' : '\0')}; }
Param Param::text(std::string_view value) { return {Oid::kText, std::string(value)}; }
Param Param::bytea(ByteView value) { return {Oid::kBytea, std::string(safety::as_text(value))}; }
Param Param::uuid(const Uuid& value) { return {Oid::kUuid, std::string(view(value))}; }
Param Param::null(Oid type) { return {type, {}, true}; }

ArrayParam::ArrayParam(Oid element, std::size_t size_hint) : element_(element) {
  elements_.reserve(size_hint * 20);
}

void ArrayParam::add_bytes(Oid type, std::string_view bytes) {
  SAFETY_CHECK(type == element_);
  append(elements_, static_cast<std::int32_t>(bytes.size()));
  elements_ += bytes;
  ++count_;
}

ArrayParam& ArrayParam::add(const Uuid& value) {
  add_bytes(Oid::kUuid, view(value));
  return *this;
}

ArrayParam& ArrayParam::add(std::int64_t value) {
  add_bytes(Oid::kInt8, encode(value));
  return *this;
}

ArrayParam& ArrayParam::add(std::int16_t value) {
  add_bytes(Oid::kInt2, encode(value));
  return *this;
}

ArrayParam& ArrayParam::add(std::int32_t value) {
  add_bytes(Oid::kInt4, encode(value));
  return *this;
}

ArrayParam& ArrayParam::add(std::string_view value) {
  add_bytes(Oid::kText, value);
  return *this;
}

ArrayParam& ArrayParam::add(ByteView value) {
  add_bytes(Oid::kBytea, safety::as_text(value));
  return *this;
}

ArrayParam& ArrayParam::add_null() {
  append(elements_, std::int32_t{-1});
  ++null_count_;
  ++count_;
  return *this;
}

Param ArrayParam::build() const {
  std::string out;
  append(out, std::int32_t{count_ == 0 ? 0 : 1});
  append(out, std::int32_t{null_count_ > 0 ? 1 : 0});
  append(out, static_cast<std::uint32_t>(element_));
  if (count_ > 0) {
    append(out, count_);
    append(out, std::int32_t{1});
    out += elements_;
  }
  return {array_of(element_), std::move(out)};
}

Param ArrayParam::build_or_null() const {
  return null_count_ == count_ ? Param::null(array_of(element_)) : build();
}

void Rows::Clear::operator()(pg_result* result) const noexcept { PQclear(result); }

Rows::Rows(pg_result* owned) : result_(owned) {}

int Rows::size() const { return PQntuples(result_.get()); }

bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) == 1;
}

std::string_view Rows::cell(int row, int column, std::size_t size) const {
  SAFETY_CHECK(row >= 0 && row < this->size() && column < PQnfields(result_.get()));
  const auto length = static_cast<std::size_t>(PQgetlength(result_.get(), row, column));
  SAFETY_CHECK(size == 0 || length == size);
  return {PQgetvalue(result_.get(), row, column), length};
}

std::int16_t Rows::int2(int row, int column) const {
  return read<std::int16_t>(cell(row, column, 2));
}
std::int32_t Rows::int4(int row, int column) const {
  return read<std::int32_t>(cell(row, column, 4));
}
std::int64_t Rows::int8(int row, int column) const {
  return read<std::int64_t>(cell(row, column, 8));
}
bool Rows::boolean(int row, int column) const { return cell(row, column, 1)[0] != '\0'; }
std::string_view Rows::text(int row, int column) const { return cell(row, column, 0); }
ByteView Rows::bytes(int row, int column) const { return safety::as_bytes(cell(row, column, 0)); }

Uuid Rows::uuid(int row, int column) const {
  const std::string_view bytes = cell(row, column, 16);
  Uuid id;
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

std::vector<std::string> Rows::text_array(int row, int column) const {
  std::vector<std::string> out;
  if (is_null(row, column)) return out;
  const std::string_view bytes = cell(row, column, 0);
  if (read<std::int32_t>(bytes) == 0) return out;
  SAFETY_CHECK(read<std::int32_t>(bytes) == 1);
  const auto count = read<std::int32_t>(bytes, 12);
  std::size_t offset = 20;
  for (std::int32_t i = 0; i < count; ++i) {
    const auto length = read<std::int32_t>(bytes, offset);
    offset += 4;
    if (length < 0) continue;
    out.emplace_back(bytes.substr(offset, static_cast<std::size_t>(length)));
    offset += static_cast<std::size_t>(length);
  }
  return out;
}

}  // namespace han::pgqueue
