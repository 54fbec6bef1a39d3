#include "cache/key_scan.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

// With a rate, pages are small enough that the scan pauses about this often.
constexpr std::uint32_t kPagesPerSecond = 10;

std::uint32_t page_size(const KeyScanOptions& options) {
  const auto asked = std::max(options.page_keys, 1U);
  if (options.keys_per_second == 0) return asked;
  return std::clamp(options.keys_per_second / kPagesPerSecond, 1U, asked);
}

// SCAN's cursor is an unsigned 64-bit number in decimal.
bool is_cursor(std::string_view text) {
  constexpr std::size_t kDigitsMax = 20;
  return !text.empty() && text.size() <= kDigitsMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

KeyScan::KeyScan(Connection& connection, KeyScanOptions options)
    : connection_(connection), options_(options), page_keys_(page_size(options)) {}

KeyPage KeyScan::next(safety::Deadline deadline) {
  SAFETY_CHECK(!is_over_);
  pause(deadline);
  KeyPage page;
  CommandBuffer commands;
  commands.add({"SCAN", cursor_, "COUNT", std::to_string(page_keys_)});
  auto result = connection_.call(commands, deadline);
  page.trouble = result.trouble;
  if (page.trouble == Trouble::kNone) {
    Reply& reply = result.replies[0];
    if (reply.is_error()) {
      page.error = reply.error;
    } else if (!take(reply, page)) {
      page.trouble = Trouble::kProtocol;
    }
  }
  if (!page.is_ok()) is_over_ = true;
  if (options_.keys_per_second > 0) {
    const auto names = std::max<std::size_t>(page.keys.size() + page.nameless, 1);
    const auto now = safety::system_clock().now();
    due_ = std::max(due_, now) + std::chrono::nanoseconds(std::chrono::seconds(1)) *
                                     static_cast<std::int64_t>(names) / options_.keys_per_second;
  }
  return page;
}

void KeyScan::pause(safety::Deadline deadline) const {
  const safety::Deadline end = deadline.earlier(safety::Deadline(due_));
  while (!end.has_passed()) ::poll(nullptr, 0, end.poll_ms());
}

bool KeyScan::take(Reply& reply, KeyPage& page) {
  if (reply.kind != Reply::Kind::kArray || reply.elements.size() != 2) return false;
  const std::string next = std::move(reply.elements[0].text);
  Reply& names = reply.elements[1];
  if (!is_cursor(next) || names.kind != Reply::Kind::kArray) return false;
  for (Reply& name : names.elements) {
    if (name.kind == Reply::Kind::kBulk) {
      page.keys.push_back(std::move(name.text));
    } else if (name.error == ErrorClass::kOversized) {
      ++page.nameless;
    } else {
      return false;
    }
  }
  std::sort(page.keys.begin(), page.keys.end());
  page.keys.erase(std::unique(page.keys.begin(), page.keys.end()), page.keys.end());
  is_over_ = next == "0";
  // The same place again would never end.
  if (!is_over_ && next == cursor_) return false;
  cursor_ = next;
  return true;
}

}  // namespace han::cache
