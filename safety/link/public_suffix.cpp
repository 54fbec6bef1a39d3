#include "safety/link/public_suffix.h"

#include <libpsl.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::safety {
namespace {

// The longest name that DNS can carry, as text.
constexpr std::size_t kNameBytesMax = 253;

const psl_ctx_t* context(const void* list) { return static_cast<const psl_ctx_t*>(list); }

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// From bytes that were read once, so that the digest is of what serves.
psl_ctx_t* parsed(std::string& bytes) {
  if (bytes.empty()) return nullptr;
  std::FILE* file = fmemopen(bytes.data(), bytes.size(), "r");
  if (file == nullptr) return nullptr;
  psl_ctx_t* list = psl_load_fp(file);
  std::fclose(file);
  // A file of comments, or none of a list at all, parses as an empty one.
  if (list != nullptr && psl_is_public_suffix2(list, "com", PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE)) {
    return list;
  }
  psl_free(list);
  return nullptr;
}

std::string built_in_identity() {
  return std::string(psl_get_version()) + " " + psl_builtin_sha1sum() + " " +
         std::to_string(psl_builtin_file_time());
}

bool is_name(std::string_view ahost) {
  return !ahost.empty() && ahost.size() <= kNameBytesMax && ahost.front() != '.' &&
         ahost.back() != '.' && ahost.find("..") == std::string_view::npos &&
         ahost.find('\0') == std::string_view::npos;
}

}  // namespace

void PublicSuffixes::Free::operator()(void* list) const { psl_free(static_cast<psl_ctx_t*>(list)); }

PublicSuffixes::PublicSuffixes(const std::string& dafsa_file) {
  std::string bytes = content(dafsa_file);
  owned_.reset(parsed(bytes));
  list_ = owned_ ? owned_.get() : psl_builtin();
  SAFETY_CHECK(list_ != nullptr);
  version_ = version_string(sha256(owned_ ? bytes : built_in_identity()));
}

PublicSuffixes::~PublicSuffixes() = default;

const PublicSuffixes& PublicSuffixes::system() {
  static const PublicSuffixes suffixes(psl_dist_filename());
  return suffixes;
}

bool PublicSuffixes::is_public_suffix(std::string_view ahost) const {
  if (!is_name(ahost)) return false;
  return psl_is_public_suffix(context(list_), std::string(ahost).c_str()) != 0;
}

std::optional<std::string> PublicSuffixes::registrable_domain(std::string_view ahost) const {
  if (!is_name(ahost)) return std::nullopt;
  const std::string name(ahost);
  const char* domain = psl_registrable_domain(context(list_), name.c_str());
  if (domain == nullptr) return std::nullopt;
  return std::string(domain);
}

bool PublicSuffixes::has_known_suffix(std::string_view ahost) const {
  if (!is_name(ahost)) return false;
  constexpr int kIcann = PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE;
  const std::string top(ahost.substr(ahost.rfind('.') + 1));
  // A top-level domain that stands in the list only as a wildcard ("*.ck") is listed too.
  return psl_is_public_suffix2(context(list_), top.c_str(), kIcann) != 0;
}

}  // namespace han::safety
