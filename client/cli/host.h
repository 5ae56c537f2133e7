// SPDX-License-Identifier: Apache-2.0
// The command line's access to its surroundings and to the core; tests replace it.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/execute.h"

namespace octavo::cli {

using JobRunner = std::function<Result<job::Outcome>(const job::Request&, const StopToken&,
                                                     const job::Observer&)>;

using RuleMeasurer = std::function<Result<job::RuleReport>(
    const std::string& report_json, const job::ByRule&, const job::ModelInput& baseline,
    const job::ModelInput& input, const StopToken&, const job::Observer&)>;

// A file that a model refers to: its name in the model and its path relative to the model.
struct ExternalFile {
  std::string name = {};
  std::string path = {};
};

struct Host {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
  std::function<size_t()> terminal_columns = {};  // of err or out; 0: unknown
  std::function<std::optional<std::string>(const std::string& name)> environment = {};
  StopToken stop = {};  // set by SIGINT
  std::string version = {};

  // The core.
  JobRunner run_job = {};
  RuleMeasurer add_by_rule = {};
  std::function<Result<std::vector<ExternalFile>>(const job::NamedBlob& model)> list_external = {};
  std::function<Result<std::string>(std::string_view report_json)> render_html = {};
};

}  // namespace octavo::cli
