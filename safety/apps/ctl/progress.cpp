#include "safety/apps/ctl/progress.h"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};
constexpr std::chrono::milliseconds kPaceAfter{1000};
constexpr std::uint64_t kBarWidth = 30;

std::string bar(std::uint64_t done, std::uint64_t total) {
  const double part = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] " +
         std::to_string(static_cast<int>(part * 100)) + " %";
}

}  // namespace

Progress::Progress(std::ostream& out, std::string label, std::uint64_t total, Shown shown,
                   const Clock& clock)
    : out_(out),
      label_(std::move(label)),
      total_(total),
      shown_(shown),
      clock_(clock),
      next_draw_(clock.now()) {}

Progress::~Progress() { clear(); }

void Progress::update(std::uint64_t done, std::uint64_t items) {
  if (shown_ == Shown::kNo) return;
  const Point now{clock_.now(), done, items};
  if (!start_) start_ = now;
  if (now.at < next_draw_) return;
  next_draw_ = now.at + kDrawInterval;
  out_ << '\r' << label_ << ' ' << (total_ > 0 ? bar(done, total_) + "  " : "")
       << std::to_string(items) << pace(now) << "\x1b[K" << std::flush;
  is_drawn_ = true;
}

// Empty in the first second, which says little.
std::string Progress::pace(const Point& now) const {
  const auto passed = now.at - start_->at;
  if (passed < kPaceAfter) return "";
  const double seconds = std::chrono::duration<double>(passed).count();
  const double rate = static_cast<double>(now.items - start_->items) / seconds;
  std::string text = ", " + std::to_string(static_cast<std::uint64_t>(rate)) + "/s";
  if (total_ > now.done && now.done > start_->done) {
    const double left = static_cast<double>(total_ - now.done) * seconds /
                        static_cast<double>(now.done - start_->done);
    text += ", " + clock_text(std::chrono::seconds(static_cast<std::int64_t>(left))) + " left";
  }
  return text;
}

void Progress::clear() {
  if (!is_drawn_) return;
  out_ << "\r\x1b[K" << std::flush;
  is_drawn_ = false;
}

std::string clock_text(std::chrono::seconds duration) {
  const std::int64_t hours = duration.count() / 3600;
  const std::int64_t minutes = duration.count() / 60 % 60;
  const std::int64_t seconds = duration.count() % 60;
  const auto two = [](std::int64_t value) {
    return (value < 10 ? ":0" : ":") + std::to_string(value);
  };
  return (hours > 0 ? std::to_string(hours) + two(minutes) : std::to_string(minutes)) +
         two(seconds);
}

Progress::Shown Progress::on_terminal() {
  return ::isatty(STDERR_FILENO) == 1 ? Shown::kYes : Shown::kNo;
}

}  // namespace han::safety
