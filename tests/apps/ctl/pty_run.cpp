#include "tests/apps/ctl/pty_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "tests/support/await.h"

namespace han::tests {

PtyRun::PtyRun(const std::vector<std::string>& arguments, const std::vector<std::string>& env) {
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  if (bin == nullptr) throw std::runtime_error("SAFETY_BIN_DIR must name the folder of safetyctl");
  std::vector<std::string> words = {std::string(bin) + "/safetyctl"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = env;
  variables.emplace_back("TERM=xterm");
  winsize size{20, 90, 0, 0};
  pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (pid_ == 0) {
    for (std::string& variable : variables) ::putenv(variable.data());
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::fcntl(fd_, F_SETFL, O_NONBLOCK);
}

PtyRun::~PtyRun() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(fd_);
}

void PtyRun::press(const std::string& keys) const {
  EXPECT_EQ(::write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void PtyRun::signal(int number) const { ::kill(pid_, number); }

const std::string& PtyRun::screen() {
  std::array<char, 4096> bytes{};
  ssize_t count = 0;
  while ((count = ::read(fd_, bytes.data(), bytes.size())) > 0) {
    screen_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return screen_;
}

termios PtyRun::mode() const {
  termios mode{};
  EXPECT_EQ(::tcgetattr(fd_, &mode), 0);
  return mode;
}

int PtyRun::finish() {
  int status = 0;
  const bool has_ended = await([&] {
    screen();
    return ::waitpid(pid_, &status, WNOHANG) == pid_;
  });
  if (!has_ended) throw std::runtime_error("safetyctl did not end within 30 s");
  pid_ = -1;
  screen();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace han::tests
