#include "safety/apps/ctl/text_source.h"

#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/input.h"
#include "safety/config.h"

namespace han::safety {

void add_text_source(CLI::App& app, TextSource& source, const std::string& what) {
  add_operand(app, what == "text" ? "TEXT" : what, source.argument,
              "The " + what + "; - reads standard input");
  add_string(app, "--file", source.file, "Read the " + what + " from this file");
}

std::string read_text(const TextSource& source, const std::string& what) {
  if (source.argument.has_value() == source.file.has_value()) {
    throw Failure(ExitCode::kUsage, "exactly one " + what + " is judged",
                  "give it as an argument, as - for standard input, or by --file");
  }
  if (source.argument && *source.argument != "-") return *source.argument;
  Input input = Input::open(source.file.value_or("-"));
  std::string text = input.read(kTextBytesMax + 1);
  if (text.size() > kTextBytesMax && !source.file) input.discard_rest();
  return text;
}

}  // namespace han::safety
