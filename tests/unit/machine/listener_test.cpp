#include "machine/listener.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace paceline::machine {
namespace {

/// As Linux 6.1 wrote it: two listeners on 127.0.0.1, ports 8080 and 22, and a connection to 8080.
constexpr const char* tcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode                                                     \n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "123456 1 0000000000000000 100 0 0 10 0                    \n"
    "   1: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "777 1 0000000000000000 100 0 0 10 0                    \n"
    "   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 "
    "888 1 0000000000000000 20 4 30 10 -1                   \n";

TEST(Listeners, of_a_port_are_those_that_listen_not_those_that_are_connected) {
  EXPECT_EQ(parse_listeners(tcp, 8080), (std::vector<std::uint64_t>{123456}));
  EXPECT_EQ(parse_listeners(tcp, 22), (std::vector<std::uint64_t>{777}));
  EXPECT_TRUE(parse_listeners(tcp, 50000).empty());
}

TEST(Listeners, are_read_from_the_table_of_version_6_too) {
  constexpr const char* tcp6 =
      "  sl  local_address                         remote_address                        st\n"
      "   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 "
      "0\n";
  EXPECT_EQ(parse_listeners(tcp6, 8080), (std::vector<std::uint64_t>{4242}));
}

TEST(Listeners, in_text_that_makes_no_sense_are_none) {
  for (const char* text :
       {"", "\n\n", "0: x 0A", "0: 1F90 0:0 0A a b c d e f", "0: :1F90x 0 0A a b c d e 1"})
    EXPECT_TRUE(parse_listeners(text, 8080).empty()) << text;
}

TEST(WhoListens, tells_our_own_group_from_another) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::uint16_t port = ntohs(address.sin_port);
  EXPECT_EQ(who_listens(port, ::getpgrp()), Listener::none);
  ASSERT_EQ(::listen(listener, 1), 0);
  EXPECT_EQ(who_listens(port, ::getpgrp()), Listener::group);
  constexpr pid_t nobodys_group = 0x3fffffff;  // above the kernel's largest process id
  EXPECT_EQ(who_listens(port, nobodys_group), Listener::other);
  EXPECT_EQ(who_listens(port, ::getpgrp(), "/no/such/folder"), Listener::unknown);
  ::close(listener);
}

}  // namespace
}  // namespace paceline::machine
