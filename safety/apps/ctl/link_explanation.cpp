#include "safety/apps/ctl/link_explanation.h"

#include <nlohmann/json.hpp>

#include <ostream>
#include <string_view>
#include <utility>
#include <variant>

#include "dns/address_class.h"
#include "safety/apps/ctl/verdict_explanation.h"
#include "safety/apps/ctl/verdict_output.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

std::string_view name_of(dns::Answer::Kind kind) {
  switch (kind) {
    case dns::Answer::Kind::kAddresses:
      return "addresses";
    case dns::Answer::Kind::kNoData:
      return "no_data";
    case dns::Answer::Kind::kNoSuchName:
      break;
  }
  return "no_such_name";
}

std::string_view name_of(EntryTag tag) {
  switch (tag) {
    case EntryTag::kHost:
      return "host";
    case EntryTag::kSuffix:
      return "suffix";
    case EntryTag::kBelow:
      return "below";
    case EntryTag::kPath:
      return "path";
    case EntryTag::kNetwork:
      return "network";
    case EntryTag::kHash:
      break;
  }
  return "hash";
}

}  // namespace

LinkExplanation::LinkExplanation(const OfflineJudge& judge, std::string raw_url, bool show_url)
    : judge_(judge),
      raw_url_(std::move(raw_url)),
      show_url_(show_url),
      judged_(judge.subjects().judge_link(raw_url_)) {}

Json LinkExplanation::stable_json() const {
  Json json;
  json["decision"] = to_string(judged_.link.evidence.decision);
  json["hits"] = judged_.link.evidence.hits;
  json["monitor"] = judged_.link.evidence.monitor;
  json["categories"] = judged_.link.evidence.categories;
  json["needs_dns"] = judged_.link.evidence.needs_dns;
  return json;
}

Json LinkExplanation::lists_json() const {
  Json all = Json::array();
  if (!judged_.link.subject) return all;
  for (const ListHit& hit : judge_.subjects().links().match_lists(*judged_.link.subject).hits) {
    Json json;
    json["id"] = hit.id;
    json["entry"] = name_of(hit.tag);
    json["action"] = to_string(hit.action);
    json["mode"] = to_string(hit.mode);
    json["decides"] = hit.decides;
    all.push_back(std::move(json));
  }
  return all;
}

Json LinkExplanation::address_json(const IpAddress& address) const {
  const dns::AddressClass address_class = dns::classify(address);
  Json json;
  json["address"] = address.str();
  json["class"] = address_class.name;
  json["global"] = address_class.is_global;
  json["embedded"] = address_class.embedded ? Json(address_class.embedded->str()) : Json();
  return json;
}

Json LinkExplanation::question_json(const char* type, const dns::Resolution& resolution) const {
  Json json;
  json["type"] = type;
  if (const auto* failure = std::get_if<dns::Failure>(&resolution)) {
    json["outcome"] = to_string(*failure);
    return json;
  }
  const auto& answer = std::get<dns::Answer>(resolution);
  json["outcome"] = name_of(answer.kind);
  json["ttl"] = answer.ttl.count();
  json["stale"] = answer.is_stale;
  json["chain_length"] = answer.chain.size();
  if (show_url_) json["chain"] = answer.chain;
  json["addresses"] = Json::array();
  for (const IpAddress& address : answer.addresses) {
    json["addresses"].push_back(address_json(address));
  }
  return json;
}

Json LinkExplanation::dns_json() const {
  Json all = Json::array();
  if (!judged_.link.facts || judge_.hosts() == nullptr) return all;
  const auto* answers = judge_.hosts()->answers(judged_.link.subject->host);
  if (answers == nullptr) return all;
  all.push_back(question_json("A", answers->a));
  all.push_back(question_json("AAAA", answers->aaaa));
  return all;
}

Json LinkExplanation::url_json() const {
  Json json;
  std::string buffer;
  json["text"] = repair_utf8(raw_url_, buffer);
  if (!judged_.link.subject) return json;
  json["fetch_identity"] = judged_.link.subject->url.fetch_identity();
  json["host"] = judged_.link.subject->url.host();
  json["resolved_name"] = judged_.link.subject->host;
  json["policy_key"] = judged_.link.subject->key.canonical();
  json["expressions"] = Json::array();
  for (const std::string_view expression : judged_.link.subject->key.expressions()) {
    json["expressions"].push_back(expression);
  }
  return json;
}

Json LinkExplanation::nested_json() const {
  Json all = Json::array();
  for (const SubjectJudge::LinkPart& part : judged_.nested) {
    Json json;
    json["url_hash"] = part.url_hash;
    json["decision"] = to_string(part.verdict.decision);
    json["reason"] = part.verdict.reason;
    json["rules"] = part.verdict.rules;
    if (show_url_ && part.subject) json["text"] = part.subject->url.href();
    all.push_back(std::move(json));
  }
  return all;
}

void LinkExplanation::print_json(std::ostream& out) const {
  Json json = verdict_json(judged_.verdict, Layer::kComputed);
  json["disposition"] = to_string(judged_.verdict.disposition);
  json["url_hash"] = judged_.link.url_hash;
  json["is_url"] = judged_.link.subject.has_value();
  json["stable"] = stable_json();
  json["lists"] = lists_json();
  const bool has_address = judged_.link.subject && judged_.link.subject->address;
  json["address"] = has_address ? address_json(*judged_.link.subject->address) : Json();
  json["dns"] = dns_json();
  json["nested"] = nested_json();
  json["explained"] = explained_json(judged_.verdict, judge_.subjects());
  if (show_url_) json.update(url_json());
  out << to_line(json) << '\n';
}

void LinkExplanation::print_table(std::ostream& out) const {
  FieldTable table;
  add_verdict(table, judged_.verdict, Layer::kComputed);
  table.add("url hash", judged_.link.url_hash);
  table.add("is a URL", judged_.link.subject ? "yes" : "no");
  table.add("without DNS", to_string(judged_.link.evidence.decision));
  table.add("needs DNS", judged_.link.evidence.needs_dns ? "yes" : "no");
  const Json url = show_url_ ? url_json() : Json::object();
  for (const auto& [name, value] : url.items()) table.add(name, to_line(value));
  table.print(out);
  RowTable hits({"list", "entry", "action", "mode", "decides"});
  const Json lists = lists_json();
  for (const Json& hit : lists) {
    hits.add({hit["id"].get<std::string>(), hit["entry"].get<std::string>(),
              hit["action"].get<std::string>(), hit["mode"].get<std::string>(),
              hit["decides"].get<bool>() ? "yes" : "no"});
  }
  if (!lists.empty()) {
    out << '\n';
    hits.print(out);
  }
  RowTable answers({"type", "answer", "ttl", "class"});
  const Json questions = dns_json();
  for (const Json& question : questions) {
    const auto type = question["type"].get<std::string>();
    const std::string ttl = question.contains("ttl") ? question["ttl"].dump() : "-";
    if (!question.contains("addresses") || question["addresses"].empty()) {
      answers.add({type, question["outcome"].get<std::string>(), ttl, "-"});
      continue;
    }
    for (const Json& address : question["addresses"]) {
      answers.add(
          {type, address["address"].get<std::string>(), ttl, address["class"].get<std::string>()});
    }
  }
  if (!questions.empty()) {
    out << '\n';
    answers.print(out);
  }
  RowTable inside({"URL in it", "decision", "rules"});
  const Json nested = nested_json();
  for (const Json& part : nested) {
    inside.add({part.contains("text") ? to_line(part["text"]) : part["url_hash"].get<std::string>(),
                part["decision"].get<std::string>(), to_line(part["rules"])});
  }
  if (!nested.empty()) {
    out << '\n';
    inside.print(out);
  }
  print_explained(judged_.verdict, judge_.subjects(), out);
}

}  // namespace han::safety
