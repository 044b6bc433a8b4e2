#include "support/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <memory>

namespace paceline::support {

namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

void must(bool done) {
  if (!done) std::abort();
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

void extend(X509* subject, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, subject, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  must(extension != nullptr && X509_add_ext(subject, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509Pointer blank(const std::string& name, EVP_PKEY* key, long serial) {
  X509Pointer made(X509_new());
  must(X509_set_version(made.get(), X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 24L * 3600);
  must(X509_set_pubkey(made.get(), key) == 1);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  must(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, text, -1,
                                  -1, 0) == 1);
  return made;
}

Certificate as_pem(X509* certificate, EVP_PKEY* key) {
  const Bio one(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_X509(one.get(), certificate) == 1);
  const Bio other(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_PrivateKey(other.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return {text_of(one.get()), text_of(other.get())};
}

bool is_address(const std::string& host) {
  return host.find_first_not_of("0123456789.") == std::string::npos ||
         host.find(':') != std::string::npos;
}

}  // namespace

Certificate make_authority(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  const X509Pointer made = blank(name, key.get(), 1);
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1);
  extend(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  must(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  return as_pem(made.get(), key.get());
}

Certificate make_certificate(const std::string& host, const Certificate& authority) {
  const Bio issuer_text(BIO_new_mem_buf(authority.certificate.c_str(), -1));
  const X509Pointer issuer(PEM_read_bio_X509(issuer_text.get(), nullptr, nullptr, nullptr));
  const Bio key_text(BIO_new_mem_buf(authority.key.c_str(), -1));
  const Key issuer_key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  must(issuer != nullptr && issuer_key != nullptr);

  const Key key(EVP_EC_gen("P-256"));
  const X509Pointer made = blank(host, key.get(), 2);
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) == 1);
  extend(made.get(), issuer.get(), NID_subject_alt_name,
         (is_address(host) ? "IP:" : "DNS:") + host);
  must(X509_sign(made.get(), issuer_key.get(), EVP_sha256()) > 0);
  return as_pem(made.get(), key.get());
}

}  // namespace paceline::support
