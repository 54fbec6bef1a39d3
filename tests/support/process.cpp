#include "tests/support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "tests/support/await.h"

extern char** environ;

namespace han::tests {
namespace {

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> out = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('=') + 1);
    const bool is_replaced = std::any_of(added.begin(), added.end(),
                                         [&](const std::string& a) { return a.starts_with(name); });
    if (!is_replaced) out.emplace_back(text);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Everything that the child needs, prepared before fork: afterwards only async-signal-safe calls.
struct Launch {
  char* const* argv;
  char* const* env;
  const char* directory;
  int output_fd;
  bool changes_user;
  uid_t uid;
  gid_t gid;
  pid_t parent;
};

[[noreturn]] void run_child(const Launch& launch) {
  if (launch.output_fd >= 0) {
    ::dup2(launch.output_fd, STDOUT_FILENO);
    ::dup2(launch.output_fd, STDERR_FILENO);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (launch.changes_user) {
    if (::setgroups(1, &launch.gid) != 0 || ::setgid(launch.gid) != 0 ||
        ::setuid(launch.uid) != 0) {
      ::_exit(126);
    }
  }
  // After the change of user, which clears it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(126);
  if (launch.directory != nullptr && ::chdir(launch.directory) != 0) ::_exit(126);
  ::execvpe(launch.argv[0], launch.argv, launch.env);
  ::_exit(127);
}

}  // namespace

Process::Process(ProcessOptions options) : options_(std::move(options)) {
  if (options_.argv.empty()) throw std::invalid_argument("a process needs a program");
  auto env_texts = merged_environment(options_.env);
  const auto argv = pointers(options_.argv);
  const auto env = pointers(env_texts);
  Launch launch{argv.data(), env.data(), nullptr, -1, false, 0, 0, ::getpid()};
  if (!options_.directory.empty()) launch.directory = options_.directory.c_str();
  if (!options_.run_as.empty() && ::geteuid() == 0) {
    const passwd* user = ::getpwnam(options_.run_as.c_str());
    if (user == nullptr) throw std::runtime_error("no such user: " + options_.run_as);
    launch.changes_user = true;
    launch.uid = user->pw_uid;
    launch.gid = user->pw_gid;
  }
  if (!options_.output_path.empty()) {
    launch.output_fd =
        ::open(options_.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (launch.output_fd < 0) throw std::system_error(errno, std::generic_category(), "open");
  }
  pid_ = ::fork();
  const int error = errno;
  if (pid_ == 0) run_child(launch);
  if (launch.output_fd >= 0) ::close(launch.output_fd);
  if (pid_ < 0) throw std::system_error(error, std::generic_category(), "fork");
}

Process::Process(Process&& other) noexcept
    : options_(std::move(other.options_)), pid_(other.pid_), status_(other.status_) {
  other.pid_ = -1;
}

Process::~Process() {
  if (pid_ > 0) kill();
}

bool Process::reap(bool wait_for_it) {
  if (status_ || pid_ <= 0) return true;
  int raw = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &raw, wait_for_it ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  const bool by_signal = got == pid_ && WIFSIGNALED(raw);
  status_ = ExitStatus{by_signal ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw), by_signal};
  return true;
}

void Process::signal(int number) {
  if (pid_ > 0 && !reap(false)) ::kill(pid_, number);
}

bool Process::is_running() { return !reap(false); }

std::optional<ExitStatus> Process::wait(safety::Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
  if (!await([&] { return reap(false); }, left)) return std::nullopt;
  return status_;
}

ExitStatus Process::stop() {
  signal(SIGTERM);
  // A stopped process takes SIGTERM only when it runs again.
  signal(SIGCONT);
  if (const auto status = wait(safety::Deadline::after(std::chrono::seconds(10)))) return *status;
  return kill();
}

ExitStatus Process::kill() {
  signal(SIGKILL);
  reap(true);
  return status_.value_or(ExitStatus{});
}

std::string Process::output() const {
  std::ifstream in(options_.output_path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace han::tests
