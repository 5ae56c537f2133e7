// SPDX-License-Identifier: Apache-2.0
// The choice of instruction set.
#include "core/base/cpu.h"

#include <gtest/gtest.h>

namespace octavo {
namespace {

TEST(Cpu, EveryNameStandsForItsInstructionSet) {
  for (const Isa isa : {Isa::kPortable, Isa::kSse4, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni}) {
    EXPECT_EQ(IsaFromName(IsaName(isa)), isa);
  }
  EXPECT_EQ(IsaFromName("avx9"), std::nullopt);
}

TEST(Cpu, ALimitLowersTheChoiceAndEndsWithItsScope) {
  const Isa before = CurrentIsa();
  {
    const ScopedIsaLimit limit(Isa::kPortable);
    EXPECT_EQ(CurrentIsa(), Isa::kPortable);
  }
  EXPECT_EQ(CurrentIsa(), before);
}

TEST(Cpu, TheMachinesInstructionSetsEndWithItsBest) {
  ASSERT_FALSE(MachineIsas().empty());
  EXPECT_EQ(MachineIsas().front(), Isa::kPortable);
  EXPECT_EQ(MachineIsas().back(), MachineIsa());
}

}  // namespace
}  // namespace octavo
