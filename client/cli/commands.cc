// SPDX-License-Identifier: Apache-2.0
#include "client/cli/commands.h"

namespace octavo::cli {
namespace {

constexpr AddCommand kCommands[] = {
    &AddOptimize, &AddReproduce, &AddCompare, &AddProfile, &AddMergeProfiles, &AddRun,  &AddDiff,
    &AddVerify,   &AddInspect,   &AddBench,   &AddLists,   &AddHealth,        &AddJobs,
};

}  // namespace

std::span<const AddCommand> Commands() { return kCommands; }

}  // namespace octavo::cli
