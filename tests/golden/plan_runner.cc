// SPDX-License-Identifier: Apache-2.0
// Runs one test of fusion decisions: plan_runner FILE.  A file has a comment, then the sections
// `--- options: WORD ..` (optional: numerics=MODE, keep-all-values), `--- graph` with a text graph,
// and `--- groups` with the groups that the planner must form, as runtime::Print writes them.  The
// grouped plan must also give the bits of the plan that keeps all values.  With
// OCTAVO_UPDATE_GOLDEN=1 it writes the groups instead of comparing them; review the diff.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "core/runtime/plan/fold_constants.h"
#include "core/runtime/plan/group.h"
#include "core/text/elements.h"
#include "core/text/parse.h"

namespace octavo::golden {
namespace {

constexpr std::string_view kOptions = "--- options: ";
constexpr std::string_view kGraph = "--- graph\n";
constexpr std::string_view kGroups = "--- groups\n";

struct PlanFile {
  std::string head = {};  // everything before the line `--- groups`
  std::string graph = {};
  std::string groups = {};
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
  if (graph == std::string::npos || groups == std::string::npos || groups < graph) {
    return Fail(Code::kUsage, "{}: must have the sections 'graph' and 'groups', in this order",
                path);
  }
  PlanFile file{.head = text.substr(0, groups),
                .graph = text.substr(graph + kGraph.size(), groups - graph - kGraph.size()),
                .groups = text.substr(groups + kGroups.size())};
  OCTAVO_CHECK(ReadOptions(file.head.substr(0, graph), file));
  return file;
}

Result<std::string> PrintedGroups(const ir::Graph& graph, const PlanFile& file, ThreadPool& pool) {
  OCTAVO_TRY(const auto constants, runtime::FoldConstants(graph, *file.numerics, pool));
  OCTAVO_TRY(
      const auto grouping,
      runtime::GroupNodes(graph, constants,
                          {.numerics = file.numerics, .fuses = !file.keeps_all_values}, pool));
  return Print(graph, grouping);
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
  OCTAVO_TRY(const std::string printed, PrintedGroups(graph, file, pool));
  OCTAVO_TRY(const auto fused, RunGraph(graph, file, /*keeps_all_values=*/false, pool));
  OCTAVO_TRY(const auto apart, RunGraph(graph, file, /*keeps_all_values=*/true, pool));
  if (fused != apart) return Fail(Code::kInternal, "the fused plan computes other bits");
  if (std::getenv("OCTAVO_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << file.head << kGroups << printed;
    return {};
  }
  if (printed == file.groups) return {};
  return Fail(Code::kInternal, "--- expected\n{}--- but got\n{}", file.groups, printed);
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
