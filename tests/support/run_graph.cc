// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_graph.h"

#include "core/float_exec/run.h"

namespace octavo::test {

Result<ValuesByName> RunGraph(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs) {
  ThreadPool pool(1);
  ValuesByName values;
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    values.insert_or_assign(graph.name(id), KeptValue{graph.type(id), tensor.Clone()});
  };
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  OCTAVO_TRY(const std::vector<ir::Tensor> outputs, session.Run(inputs, pool, {}, watch));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::ValueId id = graph.outputs()[i];
    values.insert_or_assign(graph.name(id), KeptValue{graph.type(id), outputs[i].Clone()});
  }
  return values;
}

}  // namespace octavo::test
