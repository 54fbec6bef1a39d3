// free_port: a TCP port of 127.0.0.1 that nobody listens on at this moment.
//
// Another process may take it before the caller does; whoever starts a server tries again then.
//
// Threads: safe to share. Blocks: never. Fails: std::system_error.
#pragma once

#include <cstdint>

namespace han::tests {

std::uint16_t free_port();

}  // namespace han::tests
