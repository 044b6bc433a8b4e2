#pragma once

#include <string>

namespace paceline::support {

/// A certificate made while the test runs, with its key, both as PEM.
struct Certificate {
  std::string certificate;
  std::string key;
};

/// One that signs itself and may sign others.
Certificate make_authority(const std::string& name);

/// One for a server of this host (a name, or an address in numbers), signed by `authority`.
Certificate make_certificate(const std::string& host, const Certificate& authority);

}  // namespace paceline::support
