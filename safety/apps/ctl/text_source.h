// The text or URL that a command judges: an argument, standard input or a file.
//
// Threads: one thread. Blocks: while the input is read.
// Fails:   Failure when none or two are named, or the input cannot be read.
// Limits:  one byte more than any config allows is read of a longer text: enough to see that it is
//          too long.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct TextSource {
  std::optional<std::string> argument;  // "-" is standard input
  std::optional<std::string> file;
};

// `what`: "text", "URL".
void add_text_source(CLI::App& app, TextSource& source, const std::string& what = "text");
std::string read_text(const TextSource& source, const std::string& what = "text");

}  // namespace han::safety
