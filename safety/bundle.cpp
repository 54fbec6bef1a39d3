#include "safety/bundle.h"

#include <filesystem>
#include <utility>

#include "safety/base/digest.h"
#include "safety/text/rules_file.h"
#include "safety/yaml_file.h"

namespace han::safety {

struct Bundle::Source {
  std::string rules_name;
  std::vector<Rule> rules;
};

Bundle::Bundle(Source source, std::chrono::sys_days activation_date)
    : rule_count_(source.rules.size()) {
  text_engine_ = std::make_shared<const TextEngine>(source.rules_name, std::move(source.rules),
                                                    activation_date);
}

std::shared_ptr<const Bundle> Bundle::load(const std::string& path,
                                           std::chrono::sys_days activation_date) {
  std::error_code error;
  const std::string rules_path =
      std::filesystem::is_directory(path, error) ? path + "/rules.yaml" : path;
  return of_rules(rules_path, load_rules(rules_path), activation_date);
}

std::shared_ptr<const Bundle> Bundle::of_rules(const std::string& name, std::vector<Rule> rules,
                                               std::chrono::sys_days activation_date) {
  return std::shared_ptr<const Bundle>(new Bundle(Source{name, std::move(rules)}, activation_date));
}

}  // namespace han::safety
