#include "safety/secret_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "safety/yaml_file.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::secret_text;

safety::Environment fixed(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(SecretText, TakesTheVariableOrTheFileThatWins) {
  const TempDir dir;
  std::ofstream(dir.file("secret")) << "of the file\r\n\n";
  EXPECT_EQ(secret_text("NAME", fixed({})), std::nullopt);
  EXPECT_EQ(secret_text("NAME", fixed({{"NAME", "plain"}})), "plain");
  EXPECT_EQ(secret_text("NAME", fixed({{"NAME", "plain"}, {"NAME_FILE", dir.file("secret")}})),
            "of the file");
}

TEST(SecretText, AFileThatIsMissingOrEmptyIsAnErrorThatShowsNothing) {
  const TempDir dir;
  const std::ofstream empty(dir.file("empty"));
  for (const std::string& path : {dir.file("missing"), dir.file("empty")}) {
    try {
      secret_text("NAME", fixed({{"NAME", "plain"}, {"NAME_FILE", path}}));
      FAIL();
    } catch (const safety::ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("NAME_FILE"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find(path), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace han::tests
