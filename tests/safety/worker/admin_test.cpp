#include "safety/worker/admin.h"

#include <gtest/gtest.h>
#include <httplib.h>

namespace han::tests {

using safety::Admin;

TEST(Admin, AnswersProbesAndMetrics) {
  bool is_ready = false;
  Admin admin("127.0.0.1", 0,
              {[&] {
                 return safety::Readiness{is_ready, is_ready ? "up\n" : "down\n"};
               },
               [] { return std::string("a_metric 1\n"); }});
  httplib::Client client("127.0.0.1", admin.start());
  EXPECT_EQ(client.Get("/healthz")->status, 200);
  EXPECT_EQ(client.Get("/readyz")->status, 503);
  is_ready = true;
  EXPECT_EQ(client.Get("/readyz")->status, 200);
  EXPECT_EQ(client.Get("/readyz")->body, "up\n");
  EXPECT_EQ(client.Get("/metrics")->body, "a_metric 1\n");
  EXPECT_EQ(client.Get("/other")->status, 404);
  admin.stop();
}

TEST(Admin, AnAddressThatCannotBeBoundIsAnError) {
  Admin first("127.0.0.1", 0, {});
  const auto port = first.start();
  // SO_REUSEADDR lets nobody listen twice where the first listens.
  Admin second("203.0.113.1", port, {});
  EXPECT_THROW(second.start(), std::runtime_error);
}

TEST(Admin, StopsWithoutEverHavingStarted) { const Admin admin("127.0.0.1", 0, {}); }

}  // namespace han::tests
