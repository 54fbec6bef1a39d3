// SmallZone: a name server of a test that knows a few hosts below example.com, for the commands
// that resolve links.
//
//     plain   93.184.216.34, after a CNAME to cdn, for 20 s
//     inner   10.0.0.1 beside a good address
//     empty   no address
//     broken  SERVFAIL
//     any other name does not exist
//
// Threads: as LyingDns. Owns: the server.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/lying_dns.h"

namespace han::tests {

class SmallZone {
 public:
  SmallZone() : server_(answer) {}

  LyingDns& server() { return server_; }
  // "--dns-server" and its value, before what else there is.
  std::vector<std::string> arguments(const std::vector<std::string>& tail) const {
    std::vector<std::string> all = {"--dns-server", server_.address()};
    all.insert(all.end(), tail.begin(), tail.end());
    return all;
  }

 private:
  static std::vector<std::string> answer(const DnsQuery& query) {
    DnsReply reply(query);
    if (query.name == "broken.example.com") {
      reply.rcode(2);
    } else if (query.name == "plain.example.com") {
      reply.cname(query.name, 20, "cdn.example.net");
      if (query.type == kDnsA) {
        reply.address("cdn.example.net", 3600, "93.184.216.34");
      } else {
        reply.soa("example.net", 3600, 30);
      }
    } else if (query.name == "inner.example.com" && query.type == kDnsA) {
      reply.address(query.name, 60, "93.184.216.34").address(query.name, 60, "10.0.0.1");
    } else {
      const bool is_known = query.name == "inner.example.com" || query.name == "empty.example.com";
      reply.rcode(is_known ? 0 : 3).soa("example.com", 3600, 30);
    }
    return {reply.bytes()};
  }

  LyingDns server_;
};

}  // namespace han::tests
