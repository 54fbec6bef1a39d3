#include "safety/apps/ctl/hint_sender.h"

#include <chrono>

#include "safety/apps/ctl/poll_pause.h"

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{500};

}  // namespace

HintSender::HintSender(const cache::RedisEndpoint::Environment& environment) {
  try {
    auto endpoint = cache::RedisEndpoint::from_environment("MESSAGE_SAFETY_REDIS", environment);
    if (!endpoint) return;
    publisher_ = std::make_unique<cache::WakeupPublisher>(
        cache::WakeupOptions{.endpoint = *std::move(endpoint)});
    publisher_->start();
  } catch (const cache::UrlError&) {
    is_bad_url_ = true;
  }
}

void HintSender::send(std::size_t tasks_ready) {
  if (!publisher_ || tasks_ready == 0) return;
  if (!has_waited_) {
    // The publisher drops hints while it has no connection.
    PollPause poll(std::chrono::milliseconds(1), std::chrono::milliseconds(20));
    const Deadline patience = Deadline::after(kConnectPatience);
    while (!publisher_->stats().is_up() && poll.pause(patience)) {
    }
    has_waited_ = true;
  }
  publisher_->notify(tasks_ready);
}

std::string_view HintSender::finish() {
  if (is_bad_url_) return "bad_url";
  if (!publisher_) return "off";
  publisher_->stop();
  const auto stats = publisher_->stats();
  if (stats.dropped > 0) return "lost";
  return stats.published > 0 ? "sent" : "none";
}

}  // namespace han::safety
