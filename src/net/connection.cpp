#include "net/connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace paceline::net {

bool Connection::looks_open() {
  char byte = 0;
  const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
  // Under TLS a server may say something of its own (a session ticket); in plain HTTP it may not.
  return got > 0 && secure_.has_value();
}

void Connection::close() {
  ErrorCode ignored;
  socket_.close(ignored);
}

}  // namespace paceline::net
