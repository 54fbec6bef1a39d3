#include "safety/doctor/server_info.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::ServerInfo;

TEST(ServerInfo, ReadsFieldsAndDatabases) {
  const ServerInfo info(
      "# Server\r\nredis_version:7.0.15\r\nexecutable:/a:b\r\n\r\n# Keyspace\r\n"
      "db0:keys=12,expires=12,avg_ttl=0\r\ndb2:keys=3,expires=0\r\nevicted_keys:0");
  EXPECT_EQ(info.text("redis_version"), "7.0.15");
  EXPECT_EQ(info.text("executable"), "/a:b");
  EXPECT_EQ(info.number("evicted_keys"), 0);
  EXPECT_EQ(info.major_version(), 7);
  EXPECT_EQ(info.keys_of_databases(), (std::map<int, std::int64_t>{{0, 12}, {2, 3}}));
}

TEST(ServerInfo, WhatIsNotThereIsNotKnown) {
  const ServerInfo info(
      "no colon\n# Comment:1\nredis_version:x\nn:12z\ndb:keys=1\ndbx:keys=2\n"
      "db3:keys=\nn2:99999999999999999999\n");
  EXPECT_EQ(info.text("nothing"), std::nullopt);
  EXPECT_EQ(info.text("# Comment"), std::nullopt);
  EXPECT_EQ(info.number("n"), std::nullopt);
  EXPECT_EQ(info.number("n2"), std::nullopt);
  EXPECT_EQ(info.major_version(), 0);
  EXPECT_TRUE(info.keys_of_databases().empty());
  EXPECT_EQ(ServerInfo("").text(""), std::nullopt);
}

}  // namespace
}  // namespace han::tests
