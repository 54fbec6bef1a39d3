#include "tests/support/nsd_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/dns_packet.h"
#include "tests/support/free_port.h"

namespace han::tests {

NsdServer::NsdServer(std::vector<NsdZone> zones) : zones_(std::move(zones)) {
  // Another process may take the free port before the server binds it.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    port_ = free_port();
    write_files();
    if (try_start()) return;
  }
  throw std::runtime_error("nsd did not start: " + output());
}

NsdServer::~NsdServer() { stop(); }

void NsdServer::write_files() {
  std::ofstream conf(dir_.file("nsd.conf"));
  const auto own = [&](const char* name) { return "\"" + dir_.file(name) + "\"\n"; };
  conf << "server:\n"
       << "  ip-address: 127.0.0.1@" << port_ << "\n"
       << "  server-count: 1\n"
       << "  username: \"\"\n  chroot: \"\"\n  database: \"\"\n"
       << "  zonesdir: \"" << dir_.path().string() << "\"\n"
       << "  pidfile: " << own("nsd.pid") << "  logfile: " << own("nsd.log")
       << "  zonelistfile: " << own("zone.list") << "  xfrdfile: " << own("xfrd.state")
       << "  xfrdir: \"" << dir_.path().string() << "\"\n"
       << "  zonefiles-check: no\n  rrl-ratelimit: 0\n  hide-version: yes\n"
       << "remote-control:\n  control-enable: no\n";
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    const NsdZone& zone = zones_[i];
    const std::string file = "zone" + std::to_string(i);
    conf << "zone:\n  name: \"" << zone.name << "\"\n  zonefile: \"" << file << "\"\n";
    std::ofstream(dir_.file(file)) << "$ORIGIN " << zone.name << ".\n$TTL 3600\n@ " << zone.soa_ttl
                                   << " IN SOA ns.invalid. admin.invalid. 1 3600 600 86400 "
                                   << zone.soa_minimum << "\n@ IN NS ns.invalid.\n"
                                   << zone.records << "\n";
  }
}

bool NsdServer::try_start() {
  // The Debian package puts it where only root's PATH leads.
  process_.emplace(ProcessOptions{.argv = {"nsd", "-d", "-c", dir_.file("nsd.conf")},
                                  .env = {"PATH=/usr/sbin:/usr/local/sbin:/usr/bin:/bin"},
                                  .output_path = dir_.file("nsd.out"),
                                  .directory = dir_.path().string()});
  const bool is_up = await([&] {
    if (!process_->is_running()) return true;
    for (const NsdZone& zone : zones_) {
      if (!answers(zone.name)) return false;
    }
    return true;
  });
  if (is_up && process_->is_running()) return true;
  if (const auto status = process_->wait(in(0)); status && status->code == 127) {
    throw std::runtime_error("nsd is missing: apt-get install nsd");
  }
  process_.reset();
  return false;
}

bool NsdServer::answers(const std::string& zone) const {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string query = DnsQuery{1, zone, kDnsSoa}.bytes();
  std::array<char, 512> reply{};
  pollfd item{fd, POLLIN, 0};
  constexpr int kPatienceMs = 200;
  const bool is_answered =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::send(fd, query.data(), query.size(), MSG_NOSIGNAL) > 0 &&
      ::poll(&item, 1, kPatienceMs) == 1 && ::recv(fd, reply.data(), reply.size(), 0) > 8 &&
      reply[3] % 16 == 0;
  ::close(fd);
  return is_answered;
}

void NsdServer::stop() {
  if (process_) {
    resume();
    process_->stop();
  }
  process_.reset();
}

void NsdServer::start() {
  if (process_ && process_->is_running()) return;
  if (!try_start()) throw std::runtime_error("nsd did not start again: " + output());
}

// NSD answers from a child, in the process group of the main process or not: found by parent.
void NsdServer::signal_all(int number) {
  std::vector<pid_t> parents = {process_->pid()};
  process_->signal(number);
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    std::ifstream children("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                           "/children");
    for (pid_t child = 0; children >> child;) {
      ::kill(child, number);
      parents.push_back(child);
    }
  }
}

void NsdServer::pause() { signal_all(SIGSTOP); }

void NsdServer::resume() { signal_all(SIGCONT); }

std::string NsdServer::output() const {
  std::string out;
  for (const char* name : {"nsd.out", "nsd.log"}) {
    std::ifstream file(dir_.file(name));
    out.append(std::istreambuf_iterator<char>(file), {});
  }
  return out;
}

}  // namespace han::tests
