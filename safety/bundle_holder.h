// BundleHolder: the bundle that counts now, exchanged as a whole while others use it.
//
// Readers take a snapshot per batch. A bundle that is refused changes nothing: the old one stays
// and the reason is told once for each change of the files. poll() loads only files that changed
// and then stood still for one poll, so that a file that is being written is not taken half; who
// exchanges the folder by renaming one link needs no such luck. A bundle that lost too much against
// the live one is refused too (safety/bundle_loss.h); a new process has none to compare with.
//
// Threads: current() from any thread; reload() and poll() wait for each other.
// Owns:    a share of the bundle.
// Limits:  poll() looks at 10,000 files of the folder.
// Blocks:  current() never; the constructor and reload() as long as Bundle::load; poll() asks for
//          sizes and times of the files only, unless they changed.
// Fails:   the constructor as Bundle::load; a reload that memory does not suffice for is refused,
//          what its user makes of the bundle included.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "safety/base/mutex.h"
#include "safety/bundle.h"
#include "safety/bundle_loss.h"

namespace han::safety {

class BundleHolder {
 public:
  enum class Outcome : std::uint8_t { kUnchanged, kExchanged, kRefused, kMended };
  struct Reload {
    Outcome outcome = Outcome::kUnchanged;
    // Of kRefused: file, line, id and reason, as ConfigError has them.
    std::string error;
  };

  // The bundle, and why the files are refused that stand in its place now; "" when they are not.
  struct State {
    std::shared_ptr<const Bundle> bundle;
    std::string fault;
  };

  // Makes of a bundle what its user needs, before the bundle counts; throwing std::bad_alloc or
  // ConfigError refuses it.
  using Adopt = std::function<void(const std::shared_ptr<const Bundle>&)>;

  BundleHolder(std::string path, std::chrono::sys_days activation_date,
               int loss_percent_max = kLossPercentMax);
  BundleHolder(const BundleHolder&) = delete;
  BundleHolder& operator=(const BundleHolder&) = delete;

  std::shared_ptr<const Bundle> current() const EXCLUDES(mutex_);
  State state() const EXCLUDES(mutex_);

  // Loads now, whatever changed. kUnchanged when the rules_version is the same; kMended when it is
  // and what was loaded last had been refused.
  Reload reload(std::chrono::sys_days activation_date, const Adopt& adopt = nullptr)
      EXCLUDES(load_mutex_, mutex_);
  Reload poll(std::chrono::sys_days activation_date, const Adopt& adopt = nullptr)
      EXCLUDES(load_mutex_, mutex_);

 private:
  Reload load(std::chrono::sys_days activation_date, const Adopt& adopt) REQUIRES(load_mutex_);
  Reload refuse(std::string error) EXCLUDES(mutex_);

  const std::string path_;
  const int loss_percent_max_;
  mutable Mutex load_mutex_;
  std::string loaded_stamp_ GUARDED_BY(load_mutex_);  // of the last load, good or refused
  std::string seen_stamp_ GUARDED_BY(load_mutex_);    // of the last poll
  mutable Mutex mutex_;
  State state_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
