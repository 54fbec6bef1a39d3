// Link lists made in one line an entry, for tests.
//
// Threads: one.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "safety/link/link_lists.h"

namespace han::tests {

class ListEntries {
 public:
  // What follows belongs to this list.
  ListEntries& list(std::string id, safety::RuleAction action,
                    safety::RuleMode mode = safety::RuleMode::kEnforce) {
    owner_ = builder_.add_owner(std::move(id), action, mode);
    return *this;
  }
  ListEntries& add(safety::EntryTag tag, std::string_view name) {
    builder_.add(tag, name, owner_);
    return *this;
  }
  ListEntries& network(std::string_view text) {
    const auto prefix = safety::IpPrefix::parse(text);
    std::string name(1, static_cast<char>(prefix->length()));
    for (const std::uint8_t byte : prefix->base().bytes()) name += static_cast<char>(byte);
    return add(safety::EntryTag::kNetwork, name);
  }
  safety::LinkLists finish() { return std::move(builder_).finish(); }

 private:
  safety::LinkLists::Builder builder_;
  std::uint32_t owner_ = 0;
};

}  // namespace han::tests
