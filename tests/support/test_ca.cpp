#include "tests/support/test_ca.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace han::tests {
namespace {

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using File = std::unique_ptr<FILE, Deleter<std::fclose>>;

void require(bool is_good, const char* what) {
  if (!is_good) throw std::runtime_error(std::string("certificate of a test: ") + what);
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "no key");
  return key;
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, "extension");
  X509_EXTENSION_free(extension);
}

// `issuer` null: signed with its own key.
Certificate make_certificate(EVP_PKEY* key, const CertificateOptions& options, X509* issuer,
                             EVP_PKEY* issuer_key, const std::string& basic_constraints) {
  Certificate certificate(X509_new());
  require(certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1,
          "version");
  std::uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), options.valid_from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), options.valid_until_s);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(options.common_name.c_str());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509* const parent = issuer == nullptr ? certificate.get() : issuer;
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(parent));
  X509_set_pubkey(certificate.get(), key);
  add_extension(certificate.get(), NID_basic_constraints, basic_constraints);
  std::string names;
  for (const auto& one : options.names) names += (names.empty() ? "" : ",") + one;
  if (!names.empty()) add_extension(certificate.get(), NID_subject_alt_name, names);
  require(X509_sign(certificate.get(), issuer_key, EVP_sha256()) > 0, "signature");
  return certificate;
}

File open_for_writing(const std::string& path) {
  File file(std::fopen(path.c_str(), "we"));
  require(file != nullptr, "file");
  return file;
}

void write_certificate(const std::string& path, X509* certificate) {
  require(PEM_write_X509(open_for_writing(path).get(), certificate) == 1, "writing");
}

CertificateFiles write_both(const TempDir& dir, const std::string& name, X509* certificate,
                            EVP_PKEY* key) {
  const CertificateFiles files{dir.file(name + ".crt"), dir.file(name + ".key")};
  write_certificate(files.certificate, certificate);
  require(PEM_write_PrivateKey(open_for_writing(files.key).get(), key, nullptr, nullptr, 0, nullptr,
                               nullptr) == 1,
          "writing the key");
  return files;
}

}  // namespace

struct TestCa::Impl {
  Key key = make_key();
  Certificate certificate;
};

TestCa::TestCa(const TempDir& dir, const std::string& name)
    : dir_(dir), file_(dir.file(name + ".pem")), impl_(std::make_unique<Impl>()) {
  const CertificateOptions options{.common_name = name, .names = {}};
  impl_->certificate =
      make_certificate(impl_->key.get(), options, nullptr, impl_->key.get(), "critical,CA:TRUE");
  write_certificate(file_, impl_->certificate.get());
}

TestCa::~TestCa() = default;

CertificateFiles TestCa::issue(const std::string& name, const CertificateOptions& options) const {
  const Key key = make_key();
  const Certificate certificate = make_certificate(key.get(), options, impl_->certificate.get(),
                                                   impl_->key.get(), "critical,CA:FALSE");
  return write_both(dir_, name, certificate.get(), key.get());
}

CertificateFiles TestCa::self_signed(const TempDir& dir, const std::string& name,
                                     const CertificateOptions& options) {
  const Key key = make_key();
  const Certificate certificate =
      make_certificate(key.get(), options, nullptr, key.get(), "critical,CA:FALSE");
  return write_both(dir, name, certificate.get(), key.get());
}

}  // namespace han::tests
