// SPDX-License-Identifier: Apache-2.0
// Runs one test of a planner's decision: plan_runner FILE.  A file has a comment, then the sections
// `--- options: WORD ..` (optional: numerics=MODE, keep-all-values), `--- graph` with a text graph,
// and either `--- groups` with the groups that the planner must form or `--- layouts` with the
// steps and their layouts, as runtime::Print writes them.  The grouped plan must also give the bits
// of the plan that keeps all values.  With OCTAVO_UPDATE_GOLDEN=1 it writes the decision instead of
// comparing it; review the diff.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "core/runtime/plan/fold_constants.h"
#include "core/runtime/plan/group.h"
#include "core/runtime/plan/layouts.h"
#include "core/text/elements.h"
#include "core/text/parse.h"

namespace octavo::golden {
namespace {

constexpr std::string_view kOptions = "--- options: ";
constexpr std::string_view kGraph = "--- graph\n";
constexpr std::string_view kGroups = "--- groups\n";
constexpr std::string_view kLayouts = "--- layouts\n";

struct PlanFile {
  std::string head = {};  // everything before the section with the decision
  std::string graph = {};
  std::string_view section = {};  // kGroups or kLayouts
  std::string decision = {};
  const numerics::Mode* numerics = &numerics::kOnnx;
  bool keeps_all_values = false;
};

Status ReadOptions(std::string_view head, PlanFile& file) {
  const size_t at = head.find(kOptions);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + kOptions.size();
  std::istringstream words{std::string(head.substr(begin, head.find('\n', begin) - begin))};
  for (std::string word; words >> word;) {
    if (word == "keep-all-values") {
      file.keeps_all_values = true;
    } else if (word.starts_with("numerics=")) {
      file.numerics = numerics::FindMode(word.substr(word.find('=') + 1));
      if (file.numerics == nullptr)
        return Fail(Code::kUsage, "unknown numerics mode in '{}'", word);
    } else {
      return Fail(Code::kUsage, "unknown option '{}'", word);
    }
  }
  return {};
}

Result<PlanFile> ReadPlanFile(const std::string& path) {
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const size_t graph = text.find(kGraph), groups = text.find(kGroups);
  const size_t layouts = text.find(kLayouts), decision = std::min(groups, layouts);
  const bool has_one = (groups == std::string::npos) != (layouts == std::string::npos);
  if (graph == std::string::npos || !has_one || decision < graph) {
    return Fail(Code::kUsage,
                "{}: must have the section 'graph', then either 'groups' or 'layouts'", path);
  }
  const std::string_view section = decision == groups ? kGroups : kLayouts;
  PlanFile file{.head = text.substr(0, decision),
                .graph = text.substr(graph + kGraph.size(), decision - graph - kGraph.size()),
                .section = section,
                .decision = text.substr(decision + section.size())};
  OCTAVO_CHECK(ReadOptions(file.head.substr(0, graph), file));
  return file;
}

Result<std::string> PrintedDecision(const ir::Graph& graph, const PlanFile& file,
                                    ThreadPool& pool) {
  OCTAVO_TRY(const auto constants, runtime::FoldConstants(graph, *file.numerics, pool));
  OCTAVO_TRY(
      const auto grouping,
      runtime::GroupNodes(graph, constants,
                          {.numerics = file.numerics, .fuses = !file.keeps_all_values}, pool));
  if (file.section == kGroups) return Print(graph, grouping);
  return Print(graph, grouping, runtime::ChooseLayouts(graph, constants, grouping));
}

Result<std::vector<ir::Tensor>> RunGraph(const ir::Graph& graph, const PlanFile& file,
                                         bool keeps_all_values, ThreadPool& pool) {
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.type(id);
    inputs.push_back(text::RandomTensor(type.dtype, type.shape, inputs.size() + 1));
  }
  OCTAVO_TRY(const auto plan,
             runtime::Plan::Create(
                 graph, {.numerics = file.numerics, .keep_all_values = keeps_all_values}, pool));
  return plan.Run(inputs, pool);
}

Status CheckPlan(const std::string& path) {
  OCTAVO_TRY(const PlanFile file, ReadPlanFile(path));
  OCTAVO_TRY(const ir::Graph graph, text::Parse(file.graph, {.find_op = &ops::FindOp}));
  ThreadPool pool(2);
  OCTAVO_TRY(const std::string printed, PrintedDecision(graph, file, pool));
  OCTAVO_TRY(const auto fused, RunGraph(graph, file, /*keeps_all_values=*/false, pool));
  OCTAVO_TRY(const auto apart, RunGraph(graph, file, /*keeps_all_values=*/true, pool));
  if (fused != apart) return Fail(Code::kInternal, "the fused plan computes other bits");
  if (std::getenv("OCTAVO_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << file.head << file.section << printed;
    return {};
  }
  if (printed == file.decision) return {};
  return Fail(Code::kInternal, "--- expected\n{}--- but got\n{}", file.decision, printed);
}

}  // namespace
}  // namespace octavo::golden

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: plan_runner FILE\n");
    return 2;
  }
  const octavo::Status status = octavo::golden::CheckPlan(arguments[1]);
  if (status) return 0;
  fmt::print(stderr, "{}: {}\n", arguments[1], status.error().message);
  return 1;
}
