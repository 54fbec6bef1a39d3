#include "safety/apps/ctl/submit_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::parse_submit_line;
using ::testing::StartsWith;

std::string complaint(const std::string& line) {
  try {
    parse_submit_line(line);
  } catch (const safety::SubmitLineError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SubmitLine, AStringIsATextTask) {
  const auto task = parse_submit_line(R"("hi \u0000 there")");
  EXPECT_EQ(task.kind, "text");
  EXPECT_EQ(task.payload, std::string("hi \0 there", 10));
  EXPECT_EQ(task.idempotency_key, std::nullopt);
  EXPECT_EQ(parse_submit_line("\"\xff\"").payload, "\xff");
}

TEST(SubmitLine, AnObjectSetsEveryField) {
  const auto task =
      parse_submit_line(R"({"text":"t","key":"k","subject_id":"s","subject_version":7,"class":0,)"
                        R"("fairness_bucket":255,"run_after_ms":10,"decide_within_ms":5000})");
  EXPECT_EQ(task.payload, "t");
  EXPECT_EQ(task.idempotency_key, "k");
  EXPECT_EQ(task.subject_id, "s");
  EXPECT_EQ(task.subject_version, 7);
  EXPECT_EQ(task.priority_class, 0);
  EXPECT_EQ(task.fairness_bucket, 255);
  EXPECT_EQ(task.run_after, std::chrono::milliseconds(10));
  EXPECT_EQ(task.decide_within, std::chrono::milliseconds(5000));
}

TEST(SubmitLine, NamesTheFieldAndTheFixAndNoValue) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "the line: must be a JSON string or an object"},
      {"zebra", "the line: must be"},
      {"[\"zebra\"]", "the line: must be"},
      {"{\"text\":\"zebra\"", "the line: is no valid JSON object"},
      {R"({"text":"zebra"} {"text":"zebra"})", "the line: is no valid JSON object"},
      {R"({"text":"zebra","text":"zebra"})", "text: comes twice, leave one out"},
      {R"({"text":"zebra","class":1,"class":2})", "class: comes twice"},
      {R"({"text":"zebra","payload":"zebra"})", "text: leave it or payload out"},
      {R"({"text":"zebra","key":"\ud83d"})", "key: must be 1 to 200 bytes of UTF-8"},
      {R"({"text":"\ud83d","subject_id":7,"subject_version":1})", "subject_id: must be a string"},
      {"{\"text\":\"zebra\",\"key\":\"zebra\xff\"}", "key: must be 1 to 200 bytes of UTF-8"},
      {R"({"text":{"zebra":1}})", "text: must be a string"},
      {"{}", "text: is required"},
      {R"({"text":7})", "text: must be a string"},
      {R"({"text":"zebra","zebra":1})", "a key is not known"},
      {R"({"text":"zebra","key":""})", "key: must be 1 to 200 bytes"},
      {R"({"text":"zebra","key":"a\u0000"})", "key: must be"},
      {R"({"text":"zebra","key":")" + std::string(201, 'z') + "\"}", "key: must be"},
      {R"({"text":"zebra","subject_id":"s"})", "subject: needs its version"},
      {R"({"text":"zebra","subject_version":1})", "subject: needs"},
      {R"({"text":"zebra","subject_id":"s","subject_version":-1})", "subject_version: must be"},
      {R"({"text":"zebra","subject_id":"s","subject_version":18446744073709551615})",
       "subject_version: must be"},
      {R"({"text":"zebra","class":10})", "class: must be a whole number from 0 to 9"},
      {R"({"text":"zebra","class":1.5})", "class: must be"},
      {R"({"text":"zebra","class":null})", "class: must be"},
      {R"({"text":"zebra","fairness_bucket":256})", "fairness_bucket: must be"},
      {R"({"text":"zebra","run_after_ms":2592000001})", "run_after_ms: must be"},
      {R"({"text":"zebra","decide_within_ms":0})", "decide_within_ms: must be"},
      {R"({"text":"zebra","run_after_ms":5,"decide_within_ms":5})", "run_after_ms: must be less"},
      {R"({"text":"zebra","run_after_ms":86400000})", "run_after_ms: must be less"},
      {"\"" + std::string(safety::kPayloadBytesMax + 1, 'z') + "\"", "text: must have at most"}};
  for (const auto& [line, start] : wrong) {
    EXPECT_THAT(complaint(line), StartsWith(start)) << line.substr(0, 80);
    EXPECT_EQ(complaint(line).find("zebra"), std::string::npos);
  }
}

TEST(SubmitLine, AnObjectTakesEachTextThatAStringTakes) {
  EXPECT_EQ(parse_submit_line("{\"text\":\"a\xff\"}").payload, "a\xff");
  EXPECT_EQ(parse_submit_line(R"({"text":"\ud83d!","key":"k"})").payload, "\xef\xbf\xbd!");
  EXPECT_EQ(parse_submit_line(R"({"payload":"p"})").payload, "p");
}

TEST(SubmitLine, TakesATextOfTheLargestSize) {
  const std::string text(safety::kPayloadBytesMax, 'z');
  EXPECT_EQ(parse_submit_line("\"" + text + "\"").payload, text);
}

TEST(SubmitLine, ALinkHasAUrlInPlaceOfAText) {
  const auto task = parse_submit_line(R"({"url":"https://a.example/","class":2})", "link");
  EXPECT_EQ(task.kind, "link");
  EXPECT_EQ(task.payload, "https://a.example/");
  EXPECT_EQ(parse_submit_line(R"("https://a.example/")", "link").kind, "link");
  EXPECT_THROW(parse_submit_line(R"({"text":"t"})", "link"), safety::SubmitLineError);
  EXPECT_THROW(parse_submit_line(R"({"url":"u"})"), safety::SubmitLineError);
}

}  // namespace
}  // namespace han::tests
