// JsonObjectReader: the fields of one JSON object that holds no other, one by one.
//
// Apart from the JSON library for the reason of json_string.h, and because that keeps the last of
// two fields of one name without a word.
// Source: RFC 8259 sections 4 and 6.
//
// Threads: one thread at a time; the text must outlive it. Blocks: never.
// Limits:  linear time; a field that is no string, integer or null ends the reading (kOther).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "safety/apps/ctl/json_string.h"

namespace han::safety {

struct JsonField {
  enum class Kind { kString, kInteger, kNull, kOther };  // kOther: also a number not of ours

  std::string name;
  Kind kind = Kind::kOther;
  JsonString string;
  std::int64_t integer = 0;
};

class JsonObjectReader {
 public:
  enum class Next { kField, kEnd, kMalformed };

  explicit JsonObjectReader(std::string_view text) : text_(text) {}

  // After kEnd, kMalformed or a field of kind kOther it must not be called again.
  Next next(JsonField& field);

 private:
  char skip_space();  // and returns the character there, NUL at the end
  bool take(char character);
  bool read_value(JsonField& field);
  bool read_number(JsonField& field);

  const std::string_view text_;
  std::size_t offset_ = 0;
  bool has_begun_ = false;
};

}  // namespace han::safety
