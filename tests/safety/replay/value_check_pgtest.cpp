#include <gtest/gtest.h>

#include "safety/replay/value_check.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

using safety::CheckedKey;
using safety::KeyState;
using safety::NamedKey;

class ValueCheckTest : public ReplayFixture {
 protected:
  std::vector<CheckedKey> check(const std::vector<std::string>& names,
                                safety::CheckEnd* end = nullptr) {
    pgqueue::Connection database(conninfo_, soon());
    const auto redis = open_redis(url_.empty() ? redis_.ops_url() : url_);
    const safety::EntryReader reader(&replay_peppers());
    const safety::RowJudge judge(reader, {});
    safety::ValueCheck check(*redis, database, reader, judge, 10s);
    std::vector<NamedKey> keys;
    for (const auto& name : names) keys.push_back({name, cache::parse_key(name).value()});
    std::vector<CheckedKey> checked;
    const auto ended = check.check(keys, checked);
    if (end != nullptr) *end = ended;
    return checked;
  }

  std::string url_;
};

TEST_F(ValueCheckTest, AnswersInOrderForKeysOfAllKinds) {
  insert({text_row(1), file_row(1), link_row(1)});
  rebuild();
  set(text_key(2).str(), "x");
  const auto checked = check({link_key(1).str(), text_key(2).str(), text_key(3).str(),
                              file_key(1).str(), text_key(1).str()});
  ASSERT_EQ(checked.size(), 5U);
  EXPECT_EQ(checked[0].state, KeyState::kRight);
  EXPECT_EQ(checked[1].state, KeyState::kWrong);
  EXPECT_EQ(checked[1].bytes, "x");
  EXPECT_EQ(checked[2].state, KeyState::kAbsent);
  EXPECT_EQ(checked[3].state, KeyState::kRight);
  EXPECT_EQ(checked[4].state, KeyState::kRight);
  EXPECT_GT(checked[4].ttl.value(), 1h);
}

TEST_F(ValueCheckTest, AServerThatRefusesEndsIt) {
  redis_.ask({"ACL", "SETUSER", "blind", "on", ">secret", "%R~*", "+ping", "+get"});
  url_ = "unix://blind:secret@" + redis_.socket_path();
  safety::CheckEnd end;
  check({text_key(1).str()}, &end);
  EXPECT_EQ(end.error, cache::ErrorClass::kNoperm);
}

TEST_F(ValueCheckTest, EveryKindOfEntryHasAKey) {
  for (const auto& key : {text_key(1).str(), file_key(1).str(), link_key(1).str()}) {
    const auto typed = safety::hot_key(cache::parse_key(key).value());
    ASSERT_TRUE(typed.has_value());
    EXPECT_EQ(cache::key_text(*typed), key);
  }
  EXPECT_FALSE(safety::hot_key(cache::parse_key("han:safety:rl:service:a:1").value()).has_value());
}

}  // namespace han::tests
