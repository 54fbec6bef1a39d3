#include "safety/apps/ctl/pepper_file.h"

#include <array>
#include <cstdint>
#include <cstdlib>

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

void add_pepper_option(CLI::App& app, std::optional<std::string>& path) {
  add_string(app, "--peppers", path, std::string("Pepper file (else ") + kPepperVariable + ")");
}

std::optional<PepperSet> named_peppers(const std::optional<std::string>& path) {
  const char* named = std::getenv(kPepperVariable);
  const std::string file = path.value_or(named != nullptr ? named : "");
  if (file.empty()) return std::nullopt;
  try {
    return load_peppers(file);
  } catch (const PepperError& error) {
    throw Failure(ExitCode::kUsage, error.what(), "correct the file or its path");
  }
}

PepperSet random_peppers() {
  std::array<std::uint8_t, 32> key{};
  fill_random(key.data(), key.size());
  return PepperSet{Pepper{"run", HmacKey(key)}, std::nullopt};
}

}  // namespace han::safety
