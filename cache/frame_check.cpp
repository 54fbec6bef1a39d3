#include "cache/frame_check.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace han::cache {
namespace {

// As strict as hiredis, so that the two never read one header differently: no plus sign, no leading
// zeros, no minus zero.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.starts_with('0') && text.size() > 1) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

bool FrameCheck::check(std::string_view bytes, std::string& checked) {
  while (!bytes.empty()) {
    if (state_ == State::kPayload || state_ == State::kDropped) {
      if (!take_payload(bytes, checked)) return false;
      continue;
    }
    const auto newline = bytes.find('\n');
    const auto size = newline == std::string_view::npos ? bytes.size() : newline + 1;
    if (line_.size() + size > kLineBytesMax) return false;
    line_.append(bytes.substr(0, size));
    state_ = State::kLine;
    bytes.remove_prefix(size);
    // Refused at its first byte, not at a line end that may never come.
    if (std::string_view("+-:$*").find(line_[0]) == std::string_view::npos) return false;
    if (newline != std::string_view::npos && !end_of_line(checked)) return false;
  }
  return true;
}

bool FrameCheck::end_of_line(std::string& checked) {
  if (line_.size() < 3 || line_[line_.size() - 2] != '\r') return false;
  const auto text = std::string_view(line_).substr(1, line_.size() - 3);
  if (text.find('\r') != std::string_view::npos) return false;
  const char type = line_[0];
  state_ = State::kType;
  bool is_good = true;
  if (type == '+' || type == '-') {
    checked += line_;
    end_of_item();
  } else {
    const auto value = parse_integer(text);
    if (!value) return false;
    if (type == ':') {
      checked += line_;
      end_of_item();
    } else if (type == '$') {
      is_good = start_bulk(*value, checked);
    } else {
      checked += line_;
      is_good = start_array(*value);
    }
  }
  line_.clear();
  return is_good;
}

bool FrameCheck::start_bulk(std::int64_t size, std::string& checked) {
  if (size < -1 || size > static_cast<std::int64_t>(limits_.dropped_bytes_max)) return false;
  if (size == -1) {
    checked += line_;
    end_of_item();
    return true;
  }
  const auto bytes = static_cast<std::size_t>(size);
  payload_left_ = bytes + 2;
  state_ = bytes > limits_.value_bytes_max ? State::kDropped : State::kPayload;
  if (state_ == State::kPayload) {
    checked += line_;
  } else {
    checked.append("-").append(kOversizedError).append("\r\n");
  }
  return true;
}

bool FrameCheck::start_array(std::int64_t size) {
  if (size < -1 || size > static_cast<std::int64_t>(limits_.elements_max)) return false;
  if (size <= 0) {
    end_of_item();
    return true;
  }
  if (depth_ >= kDepthMax) return false;
  // Over all levels of one reply: nested arrays must not multiply the bound.
  if (depth_ == 0) elements_ = 0;
  elements_ += static_cast<std::size_t>(size);
  if (elements_ > limits_.elements_max) return false;
  items_left_[depth_++] = static_cast<std::uint64_t>(size);
  return true;
}

void FrameCheck::end_of_item() {
  while (depth_ > 0) {
    if (--items_left_[depth_ - 1] > 0) return;
    --depth_;
  }
  ++reply_count_;
}

bool FrameCheck::take_payload(std::string_view& bytes, std::string& checked) {
  const auto taken = bytes.substr(0, std::min(bytes.size(), payload_left_));
  if (state_ == State::kPayload) checked.append(taken);
  before_last_ = taken.size() > 1 ? taken[taken.size() - 2] : last_;
  last_ = taken.back();
  payload_left_ -= taken.size();
  bytes.remove_prefix(taken.size());
  if (payload_left_ > 0) return true;
  state_ = State::kType;
  end_of_item();
  // The parser would take any two bytes for the line end and lose its place without noticing.
  return before_last_ == '\r' && last_ == '\n';
}

}  // namespace han::cache
