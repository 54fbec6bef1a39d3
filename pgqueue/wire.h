// Statement parameters and result rows in PostgreSQL's binary format.
//
// Binary, because uuid and bytea arrays of a batch would need escaping and parsing in text form.
// Arrays are one-dimensional. Params own their bytes; Rows own the result, views live as long as
// the Rows.
//
// Threads: values, one thread at a time. Blocks: never.
// Fails:   SAFETY_CHECK on a column read as another type than the statement returns (a bug).
// Source:  PostgreSQL documentation, "Frontend/Backend Protocol"; array_send() of the server's
// documentation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/bytes.h"
#include "safety/base/uuid.h"

struct pg_result;

namespace han::pgqueue {

using safety::ByteView;
using safety::Uuid;

// Type numbers of pg_type that never change.
enum class Oid : std::uint32_t {
  kBool = 16,
  kBytea = 17,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kUuid = 2950,
  kByteaArray = 1001,
  kInt2Array = 1005,
  kInt4Array = 1007,
  kTextArray = 1009,
  kInt8Array = 1016,
  kUuidArray = 2951,
};

class Param {
 public:
  static Param int2(std::int16_t value);
  static Param int4(std::int32_t value);
  static Param int8(std::int64_t value);
  static Param boolean(bool value);
  static Param text(std::string_view value);
  static Param bytea(ByteView value);
  static Param uuid(const Uuid& value);
  static Param null(Oid type);

  Oid type() const { return type_; }
  bool is_null() const { return is_null_; }
  const std::string& bytes() const { return bytes_; }

 private:
  friend class ArrayParam;
  Param(Oid type, std::string bytes, bool is_null = false)
      : type_(type), bytes_(std::move(bytes)), is_null_(is_null) {}

  Oid type_;
  std::string bytes_;
  bool is_null_;
};

// Builds an array parameter element by element.
class ArrayParam {
 public:
  // `element` is one of kBytea, kInt2, kInt4, kInt8, kText, kUuid.
  ArrayParam(Oid element, std::size_t size_hint);

  ArrayParam& add(const Uuid& value);
  ArrayParam& add(std::int64_t value);
  ArrayParam& add(std::int16_t value);
  ArrayParam& add(std::int32_t value);
  ArrayParam& add(std::string_view value);
  ArrayParam& add(ByteView value);
  ArrayParam& add_null();
  template <typename T>
  ArrayParam& add_optional(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }

  Param build() const;
  // NULL as a whole when no element has a value: the server then skips the column's work.
  Param build_or_null() const;

 private:
  void add_bytes(Oid type, std::string_view bytes);

  Oid element_;
  std::int32_t count_ = 0;
  std::int32_t null_count_ = 0;
  std::string elements_;
};

struct Statement {
  std::string_view name;  // for errors and metrics
  std::string_view sql;   // lives as long as the program (sql.h)
  std::vector<Param> params;
};

// The rows of one statement. A cell is named by row and column, both from 0.
class Rows {
 public:
  explicit Rows(pg_result* owned);

  int size() const;
  bool is_null(int row, int column) const;
  std::int16_t int2(int row, int column) const;
  std::int32_t int4(int row, int column) const;
  std::int64_t int8(int row, int column) const;
  bool boolean(int row, int column) const;
  std::string_view text(int row, int column) const;
  ByteView bytes(int row, int column) const;
  Uuid uuid(int row, int column) const;
  // Elements of a text[]; empty when NULL.
  std::vector<std::string> text_array(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const noexcept;
  };
  std::string_view cell(int row, int column, std::size_t size) const;

  std::unique_ptr<pg_result, Clear> result_;
};

}  // namespace han::pgqueue
