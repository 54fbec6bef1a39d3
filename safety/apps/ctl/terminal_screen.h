// TerminalScreen: a terminal taken over for a live view, and given back as it was.
//
// The other screen of the terminal is used, so that what stood there before comes back. Keys are
// read one by one; those that stop or suspend a program otherwise are switched off but for Ctrl-C,
// since a suspended view would leave the terminal to the shell in our mode.
//
// Threads: one thread at a time.
// Owns:    the terminal's mode, from the constructor to the destructor; two descriptors of others.
// Blocks:  draw() while the terminal does not take what is written.
// Fails:   draw() Failure or OutputClosed, as flush_output().
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace han::safety {

class TerminalScreen {
 public:
  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };

  // Both descriptors are terminals, and TERM names one that can move its cursor.
  static bool is_possible();

  TerminalScreen();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  // Lines are cut to the terminal's size as it is now.
  void draw(const std::vector<std::string>& lines);
  // The next key that was pressed, if there is one; a closed terminal reads as 'q'.
  std::optional<char> key();

 private:
  Size size() const;

  termios before_{};
};

// What is written to show `lines` on a screen of that size, from its first cell on.
std::string screen_bytes(const std::vector<std::string>& lines, TerminalScreen::Size size);

}  // namespace han::safety
