#include "core/job/prepare.h"

namespace octavo::job {

std::vector<const passes::Pass*> PassesBetween(std::string_view first, std::string_view end) {
  std::vector<const passes::Pass*> part;
  bool inside = first.empty();
  for (const passes::Pass* pass : passes::AllPasses()) {
    inside |= pass->name == first;
    if (pass->name == end) break;
    if (inside) part.push_back(pass);
  }
  return part;
}

Status PrepareFloat(ir::Graph& graph, ThreadPool& pool, const StopToken& stop) {
  passes::Settings settings;
  OCTAVO_TRY(settings.target, target::BuiltIn("cpu-int8"));
  settings.pool = &pool;
  settings.stop = stop;
  passes::Findings findings;
  OCTAVO_CHECK(
      passes::RunPipeline(PassesBetween({}, kFirstTargetPass), {}, settings, graph, findings));
  return {};
}

}  // namespace octavo::job
