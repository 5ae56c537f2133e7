// Options in words to what the passes and the exporter take; every wrong word is kUsage naming
// the option.
#pragma once

#include <nlohmann/json.hpp>

#include "core/job/job.h"
#include "core/passes/pass.h"

namespace octavo::job {

// The target with the options' changes to it, the limit, and the rest.  `profile`, `pool` and
// `stop` are the caller's to fill in.
Result<passes::Settings> SettingsOf(const Request& request);

// Exactly the options that can change output bytes, defaults filled in, in a fixed order.
nlohmann::ordered_json OptionsJson(const Options& options, const passes::Settings& settings);

}  // namespace octavo::job
