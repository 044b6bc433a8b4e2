#pragma once

#include "engine/server/managed_server.hpp"
#include "net/client.hpp"

namespace paceline::engine::server {

/// Asks /health over `client`, which has to outlive it and must have no exchange running then.
Health health_over(net::Client& client);

}  // namespace paceline::engine::server
