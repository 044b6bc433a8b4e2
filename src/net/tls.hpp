#pragma once

#include <string>

#include "net/asio.hpp"
#include "util/result.hpp"

namespace paceline::net {

using TlsStream = asio::ssl::stream<tcp::socket&>;

/// A context for clients, TLS 1.2 and later. Certificates are verified against `ca_file` (PEM), or
/// the system's when it is empty; not at all when `insecure`.
util::Result<asio::ssl::context> tls_context(const std::string& ca_file, bool insecure);

/// Has the handshake name `host` to the server (SNI, where it is no address) and hold it against
/// the certificate.
util::Result<void> expect_host(TlsStream& stream, const std::string& host);

/// Why a handshake failed: the certificate's fault where there is one.
std::string handshake_problem(TlsStream& stream, const ErrorCode& error);

}  // namespace paceline::net
