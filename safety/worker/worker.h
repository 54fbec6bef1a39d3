// Worker: the whole service in one object: claim, judge, commit, until told to stop (SPEC 8).
//
// Threads:   start(), stop() and the destructor from one thread; reload(), metrics_text() and
//            readiness() are safe to share.
// Owns:      every part and thread of the service.
// Blocks:    stop() for the settings' grace and a few database deadlines at most; the sum is in
//            ARCHITECTURE.md ("Stopping").
// Fails:     the constructor throws ConfigError, PepperError, cache::UrlError or pgqueue::Error for
//            what is wrong with the settings; a database or Redis that is down is no failure: it
//            starts and waits for them.
#pragma once

#include <memory>
#include <string>

#include "safety/worker/admin.h"
#include "safety/worker/settings.h"

namespace han::safety {

class Worker {
 public:
  Worker(Settings settings, const Addresses& addresses);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();
  // Stops claiming, gives unstarted tasks back (their attempt is refunded), lets running ones
  // finish within the grace, commits, and gives back what is left.
  void stop();

  // Loads the bundle's files now; a change counts from the next batch.
  void reload();

  std::string metrics_text();
  Readiness readiness();
  // The versions that it judges by.
  std::string rules_version() const;
  std::string config_version() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace han::safety
