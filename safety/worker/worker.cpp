#include "safety/worker/worker.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cache/hot_cache.h"
#include "cache/pool.h"
#include "cache/wakeup.h"
#include "dns/resolver.h"
#include "pgqueue/error.h"
#include "pgqueue/queue.h"
#include "pgqueue/task_query.h"
#include "safety/base/pepper.h"
#include "safety/bundle_holder.h"
#include "safety/config.h"
#include "safety/worker/batch_judge.h"
#include "safety/worker/batch_lookup.h"
#include "safety/worker/batch_queue.h"
#include "safety/worker/batch_sizer.h"
#include "safety/worker/bundle_report.h"
#include "safety/worker/bundle_watch.h"
#include "safety/worker/claimer.h"
#include "safety/worker/committer.h"
#include "safety/worker/completion_buffer.h"
#include "safety/worker/dns_report.h"
#include "safety/worker/figures.h"
#include "safety/worker/heartbeat.h"
#include "safety/worker/lease_return.h"
#include "safety/worker/maintenance.h"
#include "safety/worker/redis_report.h"
#include "safety/worker/redis_watch.h"
#include "safety/worker/snapshot.h"
#include "safety/worker/wake_signal.h"

namespace han::safety {
namespace {

// Beside the judging and flushing threads: claimer, heartbeat, committer's retries, maintenance,
// probes.
constexpr std::size_t kConnectionsBeside = 5;
constexpr std::chrono::milliseconds kProbeTimeout{1000};
// Redis connections beside the judging threads': the writer's and the watch's.
constexpr std::size_t kRedisConnectionsBeside = 2;
// How long stopping goes on writing to Redis.
constexpr std::chrono::milliseconds kLastWrites{500};

std::chrono::sys_days today() {
  return std::chrono::floor<std::chrono::days>(system_clock().wall_now());
}

// Null: the config asks for no names to be resolved.
std::unique_ptr<dns::Resolver> make_resolver(const Settings& settings, const Config& config) {
  if (config.links.dns != DnsUse::kRequired) return nullptr;
  try {
    return std::make_unique<dns::Resolver>(dns::ResolverOptions{.servers = settings.dns.servers,
                                                                .timeout = settings.dns.try_timeout,
                                                                .tries = settings.dns.tries,
                                                                .stale_max = settings.dns.stale});
  } catch (const std::invalid_argument&) {
    throw ConfigError("settings", 0, "dns.servers",
                      "holds something that is no server; write addresses, with a port if it is "
                      "not 53: 192.0.2.1:5353 or [2001:db8::1]:5353");
  }
}

DnsLookup::Resolve resolve_by(dns::Resolver* resolver) {
  if (resolver == nullptr) return nullptr;
  return [resolver](std::span<const dns::Question> questions, Deadline deadline) {
    return resolver->resolve(questions, deadline);
  };
}

cache::HotTtls ttls_of(const Config& config) {
  return cache::HotTtls::of_config(config.ttl.text, config.ttl.file, config.ttl.link,
                                   config.ttl.dns);
}

// The cache's own figures; built only where Redis is configured.
struct HotParts {
  HotParts(const cache::RedisEndpoint& redis, const Settings& settings, WakeSignal& wake,
           RedisWatch::OnPassed on_passed)
      : pool({.endpoint = redis,
              .size = static_cast<std::size_t>(settings.threads) + kRedisConnectionsBeside}),
        hot_cache(pool),
        watch(pool, {}, std::move(on_passed)),
        subscriber({.endpoint = redis}, [&wake](std::uint64_t tasks) { wake.notify(tasks); }) {}

  cache::Pool pool;
  cache::HotCache hot_cache;
  RedisWatch watch;
  cache::WakeupSubscriber subscriber;
};

pgqueue::QueueOptions queue_options(const Settings& settings, const Config& config) {
  pgqueue::QueueOptions options;
  options.lease_duration = settings.lease.duration;
  options.retry.attempts_max = settings.attempts_max;
  options.disposition = to_string(config.policy.on_indeterminate);
  // One more than is judged: enough to see that a text or link is too long.
  options.payload_bytes_max =
      static_cast<std::int32_t>(std::max(settings.text_bytes_max, kUrlBytesMax)) + 1;
  options.completion_log = settings.has_completion_log ? pgqueue::sql::CompletionLog::kOn
                                                       : pgqueue::sql::CompletionLog::kOff;
  options.payload_retention = settings.payload_retention_days > 0
                                  ? pgqueue::sql::PayloadRetention::kKeep
                                  : pgqueue::sql::PayloadRetention::kErase;
  options.audit = settings.has_audit ? pgqueue::sql::Audit::kOn : pgqueue::sql::Audit::kOff;
  options.crashes_max = settings.crashes_max;
  options.payload_ban = settings.payload_ban;
  options.retention = {.results_days = settings.retention.results_days,
                       .payload_days = settings.payload_retention_days,
                       .verdict_days = settings.retention.verdict_days,
                       .audit_days = settings.retention.audit_days,
                       .submission_days = settings.retention.submissions_days};
  return options;
}

}  // namespace

struct Worker::Parts {
  Parts(Settings given, const Addresses& addresses)
      : settings(std::move(given)),
        peppers(load_peppers(addresses.pepper_path)),
        bundles(settings.rules_path, today(), settings.bundle_loss_percent),
        snapshots(std::make_shared<const Snapshot>(bundles.current(),
                                                   load_config(settings.config_path), peppers)),
        resolver(make_resolver(settings, snapshots.get()->config())),
        pool({.conninfo = addresses.database_url,
              .connections_max = static_cast<std::size_t>(settings.threads) +
                                 static_cast<std::size_t>(settings.completion.threads) +
                                 kConnectionsBeside}),
        queue(pool, queue_options(settings, snapshots.get()->config())),
        hot(addresses.redis ? std::make_unique<HotParts>(*addresses.redis, settings, wake,
                                                         [this](std::chrono::nanoseconds trip) {
                                                           lookup.note_self_test(trip);
                                                         })
                            : nullptr),
        batches(static_cast<std::size_t>(settings.threads)),
        sizer({settings.claim.batch_min, settings.claim.batch, settings.claim.target}),
        committer(queue, leases, metrics, settings.database_timeout),
        lookup(peppers, hot ? &hot->hot_cache : nullptr, pool, resolve_by(resolver.get()), metrics,
               {.redis_timeout = settings.redis_timeout,
                .database_timeout = settings.database_timeout,
                .dns_timeout = settings.dns.timeout,
                .local_cache_bytes = settings.local_cache_bytes,
                .ttls = ttls_of(snapshots.get()->config())}),
        bundle_watch(bundles, snapshots, peppers, metrics, settings.bundle_poll),
        completions(committer, metrics,
                    {settings.completion.batch, settings.completion.flush,
                     settings.completion.buffer, settings.completion.threads}),
        heartbeat(queue, leases, metrics, settings.lease.heartbeat, settings.lease.heartbeat),
        lease_return(queue, leases, settings.database_timeout),
        claimer(queue, batches, sizer, leases, wake, metrics, claimer_options()),
        maintenance(queue, claimer.reach(), metrics,
                    std::min<std::chrono::milliseconds>(settings.lease.duration / 3,
                                                        std::chrono::seconds(1)),
                    settings.database_timeout,
                    [this](std::uint64_t tasks) { wake.notify(tasks); }) {}

  // The watch speaks to the look-ups, which end before it.
  ~Parts() {
    if (hot) hot->watch.stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ClaimerOptions claimer_options() {
    ClaimerOptions options;
    options.policy = settings.claim.policy;
    options.poll = settings.claim.poll;
    options.sweep = settings.claim.sweep;
    options.timeout = settings.database_timeout;
    options.holder = holder;
    if (hot) options.is_wakeup_up = [this] { return hot->subscriber.is_up(); };
    return options;
  }

  JudgeParts judge_parts() {
    return {snapshots, peppers, settings.text_bytes_max,  queue, lookup, completions, sizer,
            leases,    metrics, settings.database_timeout};
  }

  void judge_batches(const std::stop_token& stop);
  void collect(const Metrics::SetGauge& set);
  RedisSigns redis_signs() {  // requires: Redis is configured
    return {hot->pool.stats(), hot->pool.troubles(), hot->subscriber.stats(), hot->watch.findings(),
            lookup.budget_stats()};
  }

  // Of this start of this process: it names the rows of its leases and nothing depends on it (R6).
  const Uuid holder = Uuid::random();
  Settings settings;
  PepperSet peppers;
  BundleHolder bundles;
  SnapshotHolder snapshots;
  std::unique_ptr<dns::Resolver> resolver;  // null: no names are resolved
  Metrics metrics;
  LeaseTable leases;
  WakeSignal wake;
  pgqueue::Pool pool;
  pgqueue::Queue queue;
  std::unique_ptr<HotParts> hot;
  BatchQueue batches;
  BatchSizer sizer;
  Committer committer;
  BatchLookup lookup;
  BundleWatch bundle_watch;
  CompletionBuffer completions;
  Heartbeat heartbeat;
  LeaseReturn lease_return;
  Claimer claimer;
  Maintenance maintenance;
  std::unique_ptr<Admin> admin;
  std::vector<std::jthread> judges;
};

void Worker::Parts::judge_batches(const std::stop_token& stop) {
  BatchJudge judge(judge_parts());
  while (auto batch = batches.pop(stop)) {
    try {
      judge.process(*batch);
    } catch (const std::exception&) {
      // Out of memory, or a bug that did not abort: the batch's leases run out and others take it.
      metrics.count("batches_failed_total", "");
      log(LogLevel::kError, "batch failed",
          {{"tasks", static_cast<std::int64_t>(batch->tasks.size())}});
      for (const auto& task : batch->tasks) leases.remove(task.lease);
    }
  }
}

void Worker::Parts::collect(const Metrics::SetGauge& set) {
  set("leases_held", "", static_cast<double>(leases.size()));
  set("completion_buffer_tasks", "", static_cast<double>(completions.size()));
  set("claim_batch", "", static_cast<double>(sizer.batch()));
  set_pool_figures(pool.stats(), set);
  set_local_cache_figures(lookup.local_stats(), set);
  set_bundle_figures(bundles.state(), set);
  if (hot) {
    set_hot_cache_figures(hot->hot_cache.stats(), set);
    set_redis_figures(redis_signs(), set);
    set_redis_budget_figures(lookup.budget_stats(), lookup.writer_stats(), set);
  }
  if (resolver) set_dns_figures(resolver->stats(), lookup.resolver_stats(), set);
  set_queue_figures(pool, metrics, set, Deadline::after(kProbeTimeout));
}

Worker::Worker(Settings settings, const Addresses& addresses)
    : parts_(std::make_unique<Parts>(std::move(settings), addresses)) {
  parts_->metrics.add_collector(
      [parts = parts_.get()](const Metrics::SetGauge& set) { parts->collect(set); });
}

Worker::~Worker() {
  stop();
  if (parts_->admin) parts_->admin->stop();
}

void Worker::start() {
  Parts& parts = *parts_;
  if (parts.settings.admin_is_on) {
    parts.admin = std::make_unique<Admin>(
        parts.settings.admin_host, parts.settings.admin_port,
        AdminHandlers{[this] { return readiness(); }, [this] { return metrics_text(); }});
    log(LogLevel::kInfo, "admin", {{"port", std::int64_t{parts.admin->start()}}});
  }
  if (parts.hot) {
    parts.hot->pool.start();
    parts.hot->watch.start();
    parts.hot->subscriber.start();
  }
  parts.lookup.start();
  parts.bundle_watch.start();
  parts.committer.start();
  parts.completions.start();
  parts.heartbeat.start();
  for (int i = 0; i < parts.settings.threads; ++i) {
    parts.judges.emplace_back([&parts](const std::stop_token& stop) { parts.judge_batches(stop); });
  }
  parts.claimer.start();
  parts.maintenance.start();
  const std::string holder = parts.holder.to_string();
  const std::string version = rules_version();
  const std::string config = config_version();
  const BundleCounts counts = parts.snapshots.get()->judge().bundle().counts();
  log(LogLevel::kInfo, "started",
      {{"threads", std::int64_t{parts.settings.threads}},
       {"holder", std::string_view(holder)},
       {"version", std::string_view(version)},
       {"config", std::string_view(config)},
       {"rules", static_cast<std::int64_t>(counts.rules)},
       {"lists", static_cast<std::int64_t>(counts.lists)},
       {"entries", static_cast<std::int64_t>(counts.entries)}});
}

void Worker::stop() {
  Parts& parts = *parts_;
  if (parts.judges.empty()) return;
  const Deadline grace = Deadline::after(parts.settings.shutdown_grace);
  parts.claimer.stop();
  for (std::jthread& judge : parts.judges) judge.request_stop();
  std::vector<pgqueue::Lease> unstarted;
  for (const auto& batch : parts.batches.drain()) {
    for (const auto& task : batch.tasks) unstarted.push_back(task.lease);
  }
  parts.lease_return.give_back(unstarted);
  parts.maintenance.stop();
  parts.bundle_watch.stop();
  // Who waits for a name then gives its task back.
  if (parts.resolver && parts.settings.shutdown_grace < parts.settings.dns.timeout) {
    parts.resolver->stop();
  }
  // A commit that is retried ends with the grace; what running batches finish is committed.
  parts.committer.finish_by(grace);
  parts.judges.clear();
  parts.completions.stop();
  parts.committer.stop(grace);
  parts.heartbeat.stop();
  // A commit that was given up may hold its rows until the server's statement timeout.
  parts.lease_return.give_back_standing(Deadline::after(parts.settings.database_timeout));
  parts.lookup.stop(Deadline::after(kLastWrites));
  if (parts.hot) {
    parts.hot->subscriber.stop();
    parts.hot->watch.stop();
    parts.hot->pool.stop();
  }
  log(LogLevel::kInfo, "stopped");
}

std::string Worker::metrics_text() { return parts_->metrics.text(); }

Readiness Worker::readiness() {
  Parts& parts = *parts_;
  Readiness readiness;
  try {
    const Deadline deadline = Deadline::after(kProbeTimeout);
    const auto connection = parts.pool.acquire(deadline);
    readiness.is_ready = pgqueue::has_schema(*connection, deadline);
    readiness.text =
        readiness.is_ready ? "postgresql: up\n" : "postgresql: no schema; run safetyctl migrate\n";
  } catch (const pgqueue::Error&) {
    readiness.text = "postgresql: down\n";
  }
  readiness.text += bundle_report(parts.bundles.state());
  readiness.text += parts.hot ? redis_report(parts.redis_signs()) : "redis: not configured\n";
  readiness.text += parts.resolver ? dns_report(parts.lookup.resolver_stats()) : "dns: not used\n";
  return readiness;
}

void Worker::reload() { parts_->bundle_watch.reload(); }

std::string Worker::rules_version() const { return parts_->snapshots.get()->rules_version(); }
std::string Worker::config_version() const { return parts_->snapshots.get()->config_version(); }

}  // namespace han::safety
