// SPDX-License-Identifier: Apache-2.0
// Jobs on models whose input has open dimensions.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/data/npy.h"
#include "core/data/npz.h"
#include "core/job/execute.h"
#include "core/job/job.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {

using nlohmann::json;
using onnx::kOpen;
using onnx::ModelBuilder;
using Names = std::vector<std::string>;

inline ir::Tensor Noise(const ir::Shape& shape, float scale = 1) {
  ir::Tensor tensor(ir::DType::kF32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.mutable_values<float>()[static_cast<size_t>(i)] =
        scale * (static_cast<float>(i * 31 % 101) / 50 - 1);
  }
  return tensor;
}

inline ir::Tensor Ints(const std::vector<int64_t>& values) { return ir::Tensor::Ints(values); }

inline auto& InputDims(ModelBuilder& builder, int input = 0) {
  onnx_wire::TensorType& type =
      *builder.graph().mutable_input(input)->mutable_type()->mutable_tensor_type();
  return *type.mutable_shape()->mutable_dim();
}

// x [batch, 3, height, width] -> a convolution `c`.
inline ModelBuilder Image() {
  ModelBuilder builder;
  builder.Input("x", {kOpen, 3, kOpen, kOpen});
  auto& dims = InputDims(builder);
  const Names names = {"batch", "", "height", "width"};
  for (const int axis : {0, 2, 3}) dims[axis].set_dim_param(names[static_cast<size_t>(axis)]);
  builder.Constant("w", Noise({4, 3, 3, 3}, 0.3f)).Node("Conv", {"x", "w"}, {"c"}, "conv");
  return builder.Ints("pads", {1, 1, 1, 1}).Output("y");
}

struct SizedDone {
  Request request = {};
  Outcome outcome = {};
  onnx_wire::Model model = {};
  json report = {};
};

inline SizedDone RunJob(const Blob& model, const std::vector<ir::Tensor>& samples,
                        const std::function<void(Request&)>& change = {}) {
  SizedDone done;
  done.request.model = {"m.onnx", model};
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string name = samples.size() == 1 ? "x.npy" : fmt::format("{}.npy", i);
    done.request.samples.push_back({name, Blob(data::WriteNpy(samples[i]))});
  }
  done.request.options.threads = 1;
  done.request.options.deterministic = true;
  if (change) change(done.request);
  auto outcome = Run(done.request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return done;
  done.outcome = *std::move(outcome);
  done.report = json::parse(done.outcome.report_json);
  EXPECT_TRUE(done.model.ParseFromString(std::string(done.outcome.model.bytes.text())));
  return done;
}

inline SizedDone RunJob(const ModelBuilder& builder,
                        const std::function<void(Request&)>& change = {}) {
  return RunJob(builder.Build(), {Noise({16, 3, 16, 16})}, change);
}

inline Names DimsOf(const onnx_wire::ValueInfo& info) {
  Names names;
  for (const onnx_wire::Dimension& dim : info.type().tensor_type().shape().dim()) {
    names.push_back(dim.has_dim_value()       ? fmt::format("{}", dim.dim_value())
                    : dim.dim_param().empty() ? "?"
                                              : dim.dim_param());
  }
  return names;
}

inline Names InputOf(const SizedDone& done) { return DimsOf(done.model.graph().input(0)); }
inline Names OutputOf(const SizedDone& done) { return DimsOf(done.model.graph().output(0)); }

inline std::vector<json> Fixed(const SizedDone& done) {
  std::vector<json> warnings;
  for (const json& warning : done.report["warnings"]) {
    if (warning["code"] == "fixed_dimension") warnings.push_back(warning);
  }
  return warnings;
}

// Resize to the size of an earlier value, which is no whole multiple.
inline ModelBuilder ResizedToSkip() {
  ModelBuilder builder = Image();
  builder.Constant("v", Noise({4, 4, 3, 3}, 0.2f)).Node("Conv", {"c", "v"}, {"down"}, "down");
  builder.Ints("pads", {1, 1, 1, 1}).Ints("strides", {2, 2});
  builder.Node("Shape", {"c"}, {"sizes"});
  builder.Node("Resize", {"down", "", "", "sizes"}, {"up"}, "up").String("mode", "nearest");
  builder.Node("Concat", {"c", "up"}, {"y"}, "joined").Int("axis", 1);
  return builder;
}

}  // namespace octavo::job
