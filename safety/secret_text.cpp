#include "safety/secret_text.h"

#include <fstream>
#include <sstream>

#include "safety/yaml_file.h"

namespace han::safety {

std::optional<std::string> secret_text(const std::string& name, const Environment& environment) {
  const auto path = environment(name + "_FILE");
  if (!path) return environment(name);
  std::ifstream file(*path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw ConfigError("environment", 0, name + "_FILE", "the file cannot be read or is empty");
  }
  std::string value = text.str();
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
  return value;
}

}  // namespace han::safety
