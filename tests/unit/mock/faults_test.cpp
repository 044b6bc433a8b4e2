#include "mock/faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::mock {
namespace {

TEST(MockFault, strikes_every_request_unless_told_which) {
  const auto fault = parse_fault("burst:8");
  ASSERT_TRUE(fault);
  for (const long request : {1, 2, 99})
    EXPECT_EQ(Struck({*fault}, request).value(FaultKind::burst, 1), 8);
}

TEST(MockFault, strikes_one_request_or_all_from_one_on) {
  const auto third = parse_fault("cut@3");
  const auto onward = parse_fault("cut:2@3+");
  ASSERT_TRUE(third && onward);
  EXPECT_FALSE(Struck({*third}, 2).by(FaultKind::cut));
  EXPECT_TRUE(Struck({*third}, 3).by(FaultKind::cut));
  EXPECT_FALSE(Struck({*third}, 4).by(FaultKind::cut));
  EXPECT_FALSE(Struck({*onward}, 2).by(FaultKind::cut));
  EXPECT_TRUE(Struck({*onward}, 4).by(FaultKind::cut));
}

TEST(MockFault, tells_a_value_from_none) {
  const Struck bare({*parse_fault("stall")}, 1);
  const Struck valued({*parse_fault("stall:0.5")}, 1);
  EXPECT_TRUE(bare.bare(FaultKind::stall));
  EXPECT_FALSE(valued.bare(FaultKind::stall));
  EXPECT_EQ(valued.value(FaultKind::stall, 7), 0.5);
  EXPECT_EQ(valued.value(FaultKind::cut, 7), std::nullopt);
}

TEST(MockFault, takes_every_name_it_lists) {
  EXPECT_EQ(fault_names().size(), static_cast<std::size_t>(fault_kinds));
  for (const std::string& name : fault_names()) EXPECT_TRUE(parse_fault(name)) << name;
}

TEST(MockFault, refuses_what_makes_no_sense_and_says_how_to_write_it) {
  for (const char* text :
       {"", "nonsense", "cut:", "cut:x", "cut:-1", "cut@", "cut@0", "cut@x+", "cut:1:2"}) {
    const auto fault = parse_fault(text);
    ASSERT_FALSE(fault) << text;
    EXPECT_THAT(fault.error().message, testing::HasSubstr("KIND[:VALUE]")) << text;
  }
}

}  // namespace
}  // namespace paceline::mock
