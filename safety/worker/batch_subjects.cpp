#include "safety/worker/batch_subjects.h"

#include <utility>

namespace han::safety {

std::size_t BatchSubjects::add_text(std::string_view repaired_text, const Digest& hash) {
  const auto [found, is_new] = texts_seen_.emplace(hash, texts.size());
  if (is_new) {
    TextSubject subject;
    subject.text = repaired_text;
    subject.hash = hash;
    texts.push_back(std::move(subject));
    links_of.emplace_back();
  }
  return found->second;
}

std::size_t BatchSubjects::add_link(LinkItem item) {
  const auto [found, is_new] = links_seen_.emplace(item.hash, links.size());
  if (is_new) {
    links.push_back(std::move(item));
  } else {
    LinkItem& known = links[found->second];
    known.is_task = known.is_task || item.is_task;
  }
  return found->second;
}

std::size_t BatchSubjects::add_link_task(std::string_view url, LinkItem item) {
  const auto [found, is_new] = link_tasks_seen_.emplace(url, link_tasks.size());
  if (is_new) {
    item.is_task = true;
    link_tasks.push_back({url, add_link(std::move(item)), {}});
  }
  return found->second;
}

std::size_t BatchSubjects::add_host(HostItem a, HostItem aaaa) {
  const auto [found, is_new] = hosts_seen_.emplace(a.hash, hosts.size());
  if (is_new) {
    hosts.push_back(std::move(a));
    hosts.push_back(std::move(aaaa));
  }
  return found->second;
}

bool BatchSubjects::is_waiting(const LinkItem& link) const {
  if (link.host == LinkItem::kNoHost || !link.found->evidence.needs_dns) return false;
  return hosts[link.host].facts == nullptr || hosts[link.host + 1].facts == nullptr;
}

}  // namespace han::safety
