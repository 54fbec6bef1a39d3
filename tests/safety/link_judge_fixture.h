// LinkJudgeFixture: links judged under LinkBundle's lists and a config of the test.
//
// Threads: one. Owns: the files, the bundle and the peppers.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "safety/base/pepper.h"
#include "safety/link_judge.h"
#include "tests/safety/link_bundle.h"

namespace han::tests {

inline safety::PepperSet peppers() {
  return safety::parse_peppers("p2 " + std::string(64, 'b') + "\np1 " + std::string(64, 'a') +
                               "\n");
}

inline safety::DnsFacts addresses(std::initializer_list<const char*> texts) {
  safety::DnsFacts facts;
  facts.kind = safety::DnsFacts::Kind::kAddresses;
  for (const char* text : texts) facts.addresses.push_back(*safety::IpAddress::parse(text));
  return facts;
}

inline safety::DnsFacts answer(safety::DnsFacts::Kind kind) {
  safety::DnsFacts facts;
  facts.kind = kind;
  return facts;
}

inline safety::DnsFacts failed(std::string reason) {
  safety::DnsFacts facts;
  facts.failure = std::move(reason);
  return facts;
}

inline safety::DnsFacts no_data() { return answer(safety::DnsFacts::Kind::kNoData); }
inline safety::DnsFacts no_such_name() { return answer(safety::DnsFacts::Kind::kNoSuchName); }

// The names of a chain, as they are cached.
inline safety::DnsFacts with_chain(const safety::Pepper& pepper,
                                   std::initializer_list<const char*> names) {
  safety::DnsFacts facts = addresses({"93.184.216.34"});
  facts.pepper_id = pepper.id;
  for (const char* name : names) facts.chain.push_back(suffix_hashes(pepper.key, name));
  return facts;
}

class LinkJudgeFixture : public ::testing::Test {
 protected:
  LinkJudgeFixture() : bundle_(files_.load()) { config_.version = std::string(32, 'c'); }

  safety::LinkJudge judge() const { return {bundle_, config_, &peppers_}; }

  safety::LinkEvidence stable(std::string_view url) const {
    const auto subject = safety::link_subject(url);
    return subject ? judge().judge_stable(*subject) : judge().judge_invalid(url);
  }

  safety::Verdict resolved(std::string_view url, const safety::DnsFacts& a,
                           const safety::DnsFacts& aaaa = no_data()) const {
    return judge().judge(stable(url), &a, &aaaa);
  }

  LinkBundle files_;
  std::shared_ptr<const safety::Bundle> bundle_;
  safety::PepperSet peppers_ = peppers();
  const safety::DnsFacts none_ = no_data();
  safety::Config config_ = safety::default_config();
};

}  // namespace han::tests
