#include "safety/apps/ctl/progress.h"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};
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

void Progress::update(std::uint64_t done) {
  if (shown_ == Shown::kNo || clock_.now() < next_draw_) return;
  next_draw_ = clock_.now() + kDrawInterval;
  out_ << '\r' << label_ << ' ' << (total_ > 0 ? bar(done, total_) : std::to_string(done))
       << "\x1b[K" << std::flush;
  is_drawn_ = true;
}

void Progress::clear() {
  if (!is_drawn_) return;
  out_ << "\r\x1b[K" << std::flush;
  is_drawn_ = false;
}

Progress::Shown Progress::on_terminal() {
  return ::isatty(STDERR_FILENO) == 1 ? Shown::kYes : Shown::kNo;
}

}  // namespace han::safety
