// SPDX-License-Identifier: Apache-2.0
// Warnings of a job about the graph that it made.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

// The nodes that the job warns of with this code.
std::vector<std::string> NodesOf(std::string_view code, std::string_view graph,
                                 NumericsLimit limit = NumericsLimit::kFewerRoundings) {
  Request request{.model = {"net.graph", Blob(std::string(graph))}};
  request.samples = {{"random:7:4", Blob(std::string())}};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  request.options.numerics_limit = limit;
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  std::vector<std::string> nodes;
  const json report = json::parse(outcome->report_json);
  for (const json& warning : report["warnings"]) {
    if (warning["code"] == code) nodes.push_back(warning["node"]);
  }
  return nodes;
}

TEST(Warnings, EqualOfTwoQuantizedValues) {
  constexpr std::string_view net =
      R"(graph(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) -> (%y, %o) {
  const %w = random(1) : tensor<4x4xf32>
  const %shape = [1, 4] : tensor<2xi64>
  %a = MatMul(%x, %w) : tensor<1x4xf32>
  %b = MatMul(%z, %w) : tensor<1x4xf32>
  %t = Reshape(%b, %shape) : tensor<1x4xf32>
  %y = Equal(%a, %t) : tensor<1x4xbool>
  %o = Add(%a, %b) : tensor<1x4xf32>
}
)";
  EXPECT_EQ(NodesOf("equal_of_quantized", net, NumericsLimit::kExact),
            std::vector<std::string>{"y"});
  EXPECT_EQ(NodesOf("equal_of_quantized", net), std::vector<std::string>{})
      << "quantize/float-comparison keeps both in float";
}

TEST(Warnings, NotOfEqualWithAConstantOrOfLess) {
  EXPECT_TRUE(NodesOf("equal_of_quantized",
                      R"(graph(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) -> (%y, %l, %o) {
  const %w = random(1) : tensor<4x4xf32>
  const %c = [0.5] : tensor<1xf32>
  %a = MatMul(%x, %w) : tensor<1x4xf32>
  %b = MatMul(%z, %w) : tensor<1x4xf32>
  %y = Equal(%a, %c) : tensor<1x4xbool>
  %l = Less(%a, %b) : tensor<1x4xbool>
  %o = Add(%a, %b) : tensor<1x4xf32>
}
)")
                  .empty());
}

}  // namespace
}  // namespace octavo::job
