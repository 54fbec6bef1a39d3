#include "tests/bench/bench_main.h"

#include <exception>
#include <iostream>

namespace han::tests {

int bench_main(CLI::App& app, int argc, const char* const* argv,
               const std::function<void()>& body) {
  app.footer(app.get_footer() +
             "\nExit status: 0 measured, 1 a task was lost or a side failed, 2 usage.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitMeasured : kExitUsage;
  }
  try {
    body();
    return kExitMeasured;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": error: " << error.what() << "\n";
    return kExitFailed;
  }
}

void CommonOptions::add_to(CLI::App& app) {
  add_number(app, "--rounds", rounds, {1, 1000}, "Rounds; the sides take turns in each");
  app.add_flag("--json", is_json, "End with one line of JSON");
}

}  // namespace han::tests
