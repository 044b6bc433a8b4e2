#include "net/tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace paceline::net {

util::Result<asio::ssl::context> tls_context(const std::string& ca_file, bool insecure) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  ErrorCode error;
  context.set_verify_mode(insecure ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (insecure) return context;
  if (ca_file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(ca_file, error);
  if (error)
    return util::fail(
        util::ErrorKind::usage,
        fmt::format("No certificates could be read from {} ({}): name a PEM file that holds those "
                    "of the authority to trust.",
                    ca_file.empty() ? "the system's store" : ca_file, error.message()));
  return context;
}

util::Result<void> expect_host(TlsStream& stream, const std::string& host) {
  SSL* ssl = stream.native_handle();
  ErrorCode no_address;
  const bool by_name = (asio::ip::make_address(host, no_address), no_address.failed());
  const bool done = by_name ? SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 &&
                                  SSL_set1_host(ssl, host.c_str()) == 1
                            : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  if (done) return {};
  ERR_clear_error();
  return util::fail(util::ErrorKind::internal,
                    fmt::format("TLS cannot be told to expect the host {}.", host));
}

std::string handshake_problem(TlsStream& stream, const ErrorCode& error) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  if (verdict == X509_V_OK) return error.message();
  return fmt::format("its certificate is not to be trusted: {}",
                     X509_verify_cert_error_string(verdict));
}

}  // namespace paceline::net
