// SPDX-License-Identifier: Apache-2.0
#include "core/job/counterexample.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/runtime/plan.h"
#include "core/text/elements.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

constexpr uint64_t kRuns = 4;

// Stored integers of every value; floats in [-8, 8); zeros where integers may be indices.
std::vector<ir::Tensor> DrawInputs(const ir::Graph& graph, uint64_t seed) {
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.type(id);
    const bool real = type.quantized() || type.dtype == ir::DType::kF32;
    inputs.push_back(real ? text::RandomTensor(type.dtype, type.shape, seed + 100 * inputs.size())
                          : ir::Tensor(type.dtype, type.shape));
    if (type.dtype != ir::DType::kF32) continue;
    for (float& x : inputs.back().mutable_values<float>()) x *= 8;
  }
  return inputs;
}

double Elements(const ir::Graph& graph, ir::ValueId id) {
  return static_cast<double>(graph.type(id).elements());
}

// At most so many elements of an operand count for one element of a result: the weights of a
// channel, or a window.
double ReadsOf(const ir::Graph& graph, const ir::Node& node) {
  double reads = 1;
  for (const int64_t extent : node.attributes.Ints("kernel_shape")) {
    reads *= static_cast<double>(extent);
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::ValueId input = node.inputs[i];
    if (!input || node.op->RoleOf(i) != ir::Role::kWeight) continue;
    const int axis =
        node.op->weight_axis ? node.op->weight_axis(graph, node, static_cast<int>(i)) : -1;
    const ir::Shape& shape = graph.type(input).shape;
    const bool by_channel = axis >= 0 && static_cast<size_t>(axis) < shape.size();
    const double channels = by_channel ? static_cast<double>(shape[axis]) : 1;
    reads = std::max(reads, Elements(graph, input) / std::max(channels, 1.0));
  }
  return reads;
}

void AddCost(const ir::Graph& graph, NotRun& cost) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::ValueId id{static_cast<int32_t>(i)};
    if (!graph.value(id).erased) cost.elements += Elements(graph, id);
  }
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    const double reads = ReadsOf(graph, node);
    for (const ir::ValueId result : node.results) {
      if (result) cost.multiplications += reads * Elements(graph, result);
    }
  }
}

// The first element that differs; -1 if none does.  Equal numbers and two NaN are equal.
int64_t FirstDifference(const ir::Tensor& a, const ir::Tensor& b) {
  const bool real = ir::IsFloat(a.dtype());
  for (int64_t i = 0; i < a.size(); ++i) {
    const bool equal = real ? a.FloatAt(i) == b.FloatAt(i) ||
                                  (std::isnan(a.FloatAt(i)) && std::isnan(b.FloatAt(i)))
                            : a.IntAt(i) == b.IntAt(i);
    if (!equal) return i;
  }
  return -1;
}

Status CompareRuns(const ir::Graph& before, const ir::Graph& after, const numerics::Mode& numerics,
                   int step) {
  ThreadPool pool(1);
  const runtime::PlanOptions options{.numerics = &numerics, .keep_all_values = true};
  const auto old_plan = runtime::Plan::Create(before, options, pool);
  const auto new_plan = runtime::Plan::Create(after, options, pool);
  if (!old_plan || !new_plan) return {};  // a graph that the mode does not define
  for (uint64_t run = 0; run < kRuns; ++run) {
    std::map<std::string, ir::Tensor, std::less<>> elements;
    const std::vector<ir::Tensor> inputs = DrawInputs(before, run);
    const auto keep = [&](ir::ValueId id, const ir::Tensor& tensor) {
      elements.insert_or_assign(before.name(id), tensor.Clone());
    };
    if (!old_plan->Run(inputs, pool, {}, keep)) return {};
    Status status;
    const auto compare = [&](ir::ValueId id, const ir::Tensor& tensor) {
      const std::string& name = after.name(id);
      const auto at = elements.find(name);
      if (!status || at == elements.end()) return;
      const ir::Type &was = before.type(before.Find(name)), &is = after.type(id);
      if (was.shape != is.shape || !was.SameQuantization(is)) return;
      const int64_t i = FirstDifference(at->second, tensor);
      if (i < 0) return;
      status = Fail(Code::kInvalidArgument,
                    "step {} claims to be exact, but for random inputs element {} of '{}' becomes "
                    "{}, not {}",
                    step, i, name, tensor.FloatAt(i), at->second.FloatAt(i))
                   .Field(name);
    };
    if (!new_plan->Run(inputs, pool, {}, compare)) return {};
    OCTAVO_CHECK(status);
  }
  return {};
}

bool ClaimsExact(const verify::Step& step) {
  return std::ranges::all_of(step.applications, [](const verify::Application& application) {
    return application.effect == "exact";
  });
}

}  // namespace

Result<std::vector<NotRun>> SearchCounterexample(const ir::Graph& before,
                                                 const verify::Certificate& certificate,
                                                 const verify::Verdict& verdict,
                                                 const text::OpLookup& find_op,
                                                 const numerics::Mode& numerics) {
  std::vector<NotRun> left_out;
  if (verdict.proved()) return left_out;
  std::set<int> open;  // steps with an unproved application
  for (const verify::Finding& finding : verdict.findings) {
    if (finding.proof == verify::Proof::kNone) open.insert(finding.step);
  }
  std::map<std::string, Blob, std::less<>> data = certificate.data;
  const std::string first =
      text::Print(before, {.payload = [&](const std::string& digest, const ir::Tensor& tensor) {
                    data.insert_or_assign(digest, tensor.ToBlob());
                  }});
  const text::ParseOptions parse{
      .find_op = find_op, .payload = [&](std::string_view digest) -> Result<Blob> {
        if (const auto at = data.find(digest); at != data.end()) return at->second;
        return Fail(Code::kInvalidArgument, "the certificate lacks constant data {}", digest);
      }};
  std::vector<std::string> lines = verify::LinesOf(first);
  OCTAVO_TRY(ir::Graph graph, text::Parse(first, parse));
  for (size_t i = 0; i < certificate.steps.size(); ++i) {
    const verify::Step& step = certificate.steps[i];
    OCTAVO_TRY(lines, verify::Apply(lines, step.edits));
    OCTAVO_TRY(ir::Graph next, text::Parse(verify::TextOf(lines), parse));
    const auto index = static_cast<int>(i);
    const bool unproved = open.contains(index) || !verdict.unexplained.empty();
    const bool same_inputs =
        std::ranges::equal(graph.inputs(), next.inputs(), [&](ir::ValueId was, ir::ValueId is) {
          return graph.type(was).shape == next.type(is).shape &&
                 graph.type(was).SameQuantization(next.type(is));
        });
    if (unproved && same_inputs && ClaimsExact(step)) {
      NotRun cost{.step = index};
      AddCost(graph, cost);
      AddCost(next, cost);
      if (cost.elements > kMaxRunElements || cost.multiplications > kMaxRunMultiplications) {
        left_out.push_back(cost);
      } else {
        OCTAVO_CHECK(CompareRuns(graph, next, numerics, index));
      }
    }
    graph = std::move(next);
  }
  return left_out;
}

}  // namespace octavo::job
