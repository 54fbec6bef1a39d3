#include "safety/apps/ctl/terminal_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "safety/apps/ctl/output.h"

namespace han::safety {
namespace {

// xterm's control sequences, which every terminal of today knows.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

}  // namespace

std::string screen_bytes(const std::vector<std::string>& lines, TerminalScreen::Size size) {
  std::string bytes(kHome);
  // The last row stays free: a line end there would scroll.
  const std::size_t count = std::min(lines.size(), size.rows - 1);
  for (std::size_t i = 0; i < count; ++i) {
    bytes += lines[i].substr(0, size.columns);
    bytes += kClearLine;
    bytes += "\r\n";
  }
  bytes += kClearBelow;
  return bytes;
}

bool TerminalScreen::is_possible() {
  const char* kind = std::getenv("TERM");
  const bool can_move = kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
  return can_move && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

TerminalScreen::TerminalScreen() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios mode = before_;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 0;
  mode.c_cc[VTIME] = 0;
  mode.c_cc[VSUSP] = _POSIX_VDISABLE;
  mode.c_cc[VQUIT] = _POSIX_VDISABLE;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  std::cout << kEnter << std::flush;
}

TerminalScreen::~TerminalScreen() {
  std::cout << kLeave << std::flush;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

TerminalScreen::Size TerminalScreen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 1) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

void TerminalScreen::draw(const std::vector<std::string>& lines) {
  std::cout << screen_bytes(lines, size());
  flush_output(std::cout);
}

std::optional<char> TerminalScreen::key() {
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  if (::poll(&entry, 1, 0) != 1) return std::nullopt;
  char key = 0;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  if (count == 1) return key;
  return count < 0 && (errno == EINTR || errno == EAGAIN) ? std::nullopt : std::optional('q');
}

}  // namespace han::safety
