// Script: one Lua script of the product, and the list of all of them.
//
// The .lua files of cache/scripts are part of the program. A server knows a script by the SHA-1 of
// its text; so two versions of it live side by side while workers of both run. The first line of a
// file is its version, `-- version: N`, for people and logs.
//
// Rules for every script: all its keys are in KEYS and of one slot; no loop without a small bound,
// no SCAN; time is Redis' own; a key gets its TTL in the command that creates it, so that an error
// half way leaves no key without one; integers out, never nil inside an array. A script that runs
// too long cannot be killed once it has written (Redis 7.0: UNKILLABLE).
//
// Threads: values; all functions are safe to share. Blocks: never.
// Fails:   std::invalid_argument when a text does not begin with its version.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/protocol.h"

namespace han::cache {

class Script {
 public:
  Script(std::string_view name, std::string_view text);
  // The file's name without .lua.
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  std::uint32_t version() const { return version_; }
  // 40 lower-case hex digits: what EVALSHA takes.
  const std::string& sha1() const { return sha1_; }

 private:
  std::string name_;
  std::string text_;
  std::string sha1_;
  std::uint32_t version_ = 0;
};

enum class ScriptId { kDeleteIfEqual, kRateLimit, kSelfTest };

const Script& script(ScriptId id);
// In the order of ScriptId.
std::span<const Script> all_scripts();

// One SCRIPT LOAD for each.
CommandBuffer load_commands(std::span<const Script> scripts);

// Made by the build from the files; use all_scripts().
std::vector<Script> embedded_scripts();

}  // namespace han::cache
