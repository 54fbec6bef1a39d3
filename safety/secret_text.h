// secret_text: an address or a secret of the environment: the content of the file that NAME_FILE
// names, without its last line ends, or else the value of NAME.
//
// Threads: pure but for reading a file. Blocks: it reads a small file.
// Fails:   ConfigError, which names the variable and never shows a value.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace han::safety {

// Gives a variable's value; getenv in programs.
using Environment = std::function<std::optional<std::string>(const std::string&)>;

std::optional<std::string> secret_text(const std::string& name, const Environment& environment);

}  // namespace han::safety
