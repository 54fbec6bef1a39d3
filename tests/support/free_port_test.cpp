#include "tests/support/free_port.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

TEST(FreePort, GivesAPort) { EXPECT_GT(free_port(), 1023); }

}  // namespace
}  // namespace han::tests
