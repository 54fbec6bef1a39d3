// TestCa: a certificate authority of one test. It writes certificates and keys into a folder.
//
// Source: RFC 5280 (certificate profile).
//
// Threads: one thread at a time.
// Owns:    the authority's key; borrows the folder, which must outlive it.
// Fails:   std::runtime_error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace han::tests {

struct CertificateOptions {
  std::string common_name = "redis";
  // Subject alternative names in OpenSSL's form: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> names;
  // From now on.
  long valid_from_s = -3600;
  long valid_until_s = 24 * 3600;
};

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

class TestCa {
 public:
  // Writes `name`.pem, the certificate that clients may trust.
  explicit TestCa(const TempDir& dir, const std::string& name = "ca");
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  const std::string& file() const { return file_; }
  // Writes `name`.crt and `name`.key.
  CertificateFiles issue(const std::string& name, const CertificateOptions& options) const;
  // The same, vouched for by nobody but itself.
  static CertificateFiles self_signed(const TempDir& dir, const std::string& name,
                                      const CertificateOptions& options);

 private:
  struct Impl;
  const TempDir& dir_;
  std::string file_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace han::tests
