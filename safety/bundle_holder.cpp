#include "safety/bundle_holder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "safety/yaml_file.h"

namespace han::safety {
namespace {

constexpr std::size_t kFilesMax = 10'000;

// A file that cannot be looked at has a stamp too.
void append_stamp(std::string& out, const std::string& path) {
  struct stat info {};
  out += path;
  if (::stat(path.c_str(), &info) == 0) {
    for (const auto part :
         {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
          static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
          static_cast<std::int64_t>(info.st_mtim.tv_nsec)}) {
      out.append(" ").append(std::to_string(part));
    }
  }
  out += '\n';
}

// Identity, size and time of the file, or of all files of the folder.
std::string stamp_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files = {path};
  std::error_code error;
  fs::recursive_directory_iterator at(path, error);
  for (; !error && at != fs::end(at) && files.size() < kFilesMax; at.increment(error)) {
    files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  std::string out;
  for (const std::string& file : files) append_stamp(out, file);
  return out;
}

}  // namespace

BundleHolder::BundleHolder(std::string path, std::chrono::sys_days activation_date,
                           int loss_percent_max)
    : path_(std::move(path)),
      loss_percent_max_(loss_percent_max),
      loaded_stamp_(stamp_of(path_)),
      seen_stamp_(loaded_stamp_) {
  state_.bundle = Bundle::load(path_, activation_date);
}

std::shared_ptr<const Bundle> BundleHolder::current() const {
  const MutexLock lock(mutex_);
  return state_.bundle;
}

BundleHolder::State BundleHolder::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

BundleHolder::Reload BundleHolder::refuse(std::string error) {
  const MutexLock lock(mutex_);
  state_.fault = error;
  return {Outcome::kRefused, std::move(error)};
}

BundleHolder::Reload BundleHolder::load(std::chrono::sys_days activation_date, const Adopt& adopt) {
  const std::shared_ptr<const Bundle> live = current();
  std::shared_ptr<const Bundle> fresh;
  bool is_new = false;
  try {
    fresh = Bundle::load(path_, activation_date);
    if (const auto loss = find_loss(*live, *fresh, loss_percent_max_)) throw *loss;
    is_new = fresh->rules_version() != live->rules_version();
    if (is_new && adopt) adopt(fresh);
  } catch (const ConfigError& error) {
    return refuse(error.what());
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory for the old and the new bundle");
  }
  const MutexLock lock(mutex_);
  const bool was_refused = !std::exchange(state_.fault, "").empty();
  if (!is_new) return {was_refused ? Outcome::kMended : Outcome::kUnchanged, ""};
  state_.bundle = std::move(fresh);
  return {Outcome::kExchanged, ""};
}

BundleHolder::Reload BundleHolder::reload(std::chrono::sys_days activation_date,
                                          const Adopt& adopt) {
  const MutexLock lock(load_mutex_);
  // Taken before the files are read: what changes meanwhile is seen by the next poll.
  loaded_stamp_ = stamp_of(path_);
  seen_stamp_ = loaded_stamp_;
  return load(activation_date, adopt);
}

BundleHolder::Reload BundleHolder::poll(std::chrono::sys_days activation_date, const Adopt& adopt) {
  const MutexLock lock(load_mutex_);
  std::string stamp = stamp_of(path_);
  const bool stands_still = stamp == seen_stamp_;
  seen_stamp_ = std::move(stamp);
  if (seen_stamp_ == loaded_stamp_ || !stands_still) return {};
  loaded_stamp_ = seen_stamp_;
  return load(activation_date, adopt);
}

}  // namespace han::safety
