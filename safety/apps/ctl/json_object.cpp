#include "safety/apps/ctl/json_object.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace han::safety {

char JsonObjectReader::skip_space() {
  offset_ = std::min(text_.find_first_not_of(kJsonSpace, offset_), text_.size());
  return offset_ < text_.size() ? text_[offset_] : '\0';
}

bool JsonObjectReader::take(char character) {
  if (skip_space() != character) return false;
  ++offset_;
  return true;
}

JsonObjectReader::Next JsonObjectReader::next(JsonField& field) {
  const bool is_first = !std::exchange(has_begun_, true);
  if (is_first && !take('{')) return Next::kMalformed;
  if (take('}')) {
    skip_space();
    return offset_ == text_.size() ? Next::kEnd : Next::kMalformed;
  }
  if (!is_first && !take(',')) return Next::kMalformed;
  skip_space();
  auto name = read_json_string(text_, offset_);
  if (!name || !take(':') || !read_value(field)) return Next::kMalformed;
  field.name = std::move(name->text);
  return Next::kField;
}

bool JsonObjectReader::read_value(JsonField& field) {
  const char first = skip_space();
  if (first == '"') {
    auto string = read_json_string(text_, offset_);
    if (!string) return false;
    field.string = std::move(*string);
    field.kind = JsonField::Kind::kString;
    return true;
  }
  if (first == '-' || (first >= '0' && first <= '9')) return read_number(field);
  if (text_.substr(offset_).starts_with("null")) {
    offset_ += 4;
    field.kind = JsonField::Kind::kNull;
    return true;
  }
  field.kind = JsonField::Kind::kOther;
  return std::string_view("{[tfn").find(first) != std::string_view::npos;
}

bool JsonObjectReader::read_number(JsonField& field) {
  const std::size_t end =
      std::min(text_.find_first_not_of("+-.eE0123456789", offset_), text_.size());
  const std::string_view number = text_.substr(offset_, end - offset_);
  offset_ = end;
  const std::string_view digits = number.substr(number.front() == '-' ? 1 : 0);
  const bool has_leading_zero =
      digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  if (digits.empty() || has_leading_zero) return false;
  const char* number_end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), number_end, field.integer);
  const bool is_integer = error == std::errc() && stop == number_end;
  field.kind = is_integer ? JsonField::Kind::kInteger : JsonField::Kind::kOther;
  return true;
}

}  // namespace han::safety
