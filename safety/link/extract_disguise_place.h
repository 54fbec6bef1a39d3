// DisguisePlace: one place of a text where a disguise stands, and what it stands for.
//
// Which disguises there are, is written in extract_disguise.h.
//
// Threads: pure functions. Blocks: never.
// Limits:  looks at some dozens of bytes around the mark; of spelled words at all of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "safety/link/extract_host.h"

namespace han::safety {

struct DisguisePlace {
  std::size_t begin;
  std::size_t end;
  std::string plain;  // what is to stand there
};

// The place that has a mark (extract_mark.h) at `mark`; nothing before `floor`, where the last one
// ended, belongs to it.
std::optional<DisguisePlace> disguise_place(std::string_view text, std::size_t mark,
                                            std::size_t floor, HostTest& suffixes);

}  // namespace han::safety
