// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of the fuzz targets to a folder: seeds DIR
#include <filesystem>
#include <iostream>

#include "core/data/npy.h"
#include "core/data/npz.h"
#include "core/native/native.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "octavo/worker/v1/worker.pb.h"
#include "tests/core/data/image_files.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo {
namespace {

std::vector<std::string> Models() {
  using onnx::ModelBuilder;
  const ir::Tensor weight = ir::Tensor::Of<float>({2, 1, 3, 3}, std::vector<float>(18, 0.5f));
  ModelBuilder conv;
  conv.Input("x", {1, 1, 5, 5}).Constant("w", weight).Node("Conv", {"x", "w"}, {"h"});
  conv.Ints("pads", {1, 1, 1, 1}).Node("Relu", {"h"}, {"y"}).Output("y");
  ModelBuilder old(7);
  old.Input("x", {onnx::kOpen, 4}).Node("Clip", {"x"}, {"a"}).Float("min", 0);
  old.Node("Slice", {"a"}, {"b"}).Ints("starts", {0}).Ints("ends", {2});
  old.Node("Softmax", {"b"}, {"y"}).Output("y");
  ModelBuilder qdq(13);
  qdq.Input("x", {1, 4}).Constant("s", ir::Tensor::Scalar(0.5f));
  qdq.Constant("z", ir::Tensor::Scalar<int8_t>(3));
  qdq.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  qdq.Node("DequantizeLinear", {"q", "s", "z"}, {"d"}).Node("Relu", {"d"}, {"h"});
  qdq.Node("QuantizeLinear", {"h", "s", "z"}, {"hq"});
  qdq.Node("DequantizeLinear", {"hq", "s", "z"}, {"y"}).Output("y");
  // A weight quantized per row, and a clamp before QuantizeLinear.
  ModelBuilder rows(13);
  rows.Input("x", {1, 2, 3, 3}).Constant("s", ir::Tensor::Scalar(0.5f));
  rows.Constant("z", ir::Tensor::Scalar<uint8_t>(3));
  rows.Constant("wq", ir::Tensor(ir::DType::kI8, {2, 2}));
  rows.Constant("ws", ir::Tensor::Of<float>({2}, {0.1f, 0.2f}));
  rows.Constant("shape", ir::Tensor::Ints({2, 2, 1, 1}));
  rows.Node("DequantizeLinear", {"wq", "ws"}, {"wd"}).Int("axis", 0);
  rows.Node("Reshape", {"wd", "shape"}, {"w"});
  rows.Node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  rows.Node("DequantizeLinear", {"xq", "s", "z"}, {"xd"}).Node("Conv", {"xd", "w"}, {"c"});
  rows.Node("Relu", {"c"}, {"r"}).Node("Split", {"r"}, {"a", "b"}).Int("axis", 1);
  rows.Node("QuantizeLinear", {"a", "s", "z"}, {"aq"});
  rows.Node("DequantizeLinear", {"aq", "s", "z"}, {"y"}).Output("y");
  // Nodes that no graph holds: of another domain, and with a subgraph that reads `h`.
  ModelBuilder side(13);
  side.Node("Identity", {"h"}, {"z"}).Output("z");
  ModelBuilder opaque(13);
  opaque.Input("x", {1, 4}).Constant("c", ir::Tensor::Scalar<uint8_t>(1));
  opaque.Node("Relu", {"x"}, {"h"}).Node("Odd", {"h"}, {"o"}).Domain("d");
  opaque.Node("If", {"c"}, {"i"}).Graph("then_branch", side).Graph("else_branch", side);
  opaque.Node("Add", {"o", "i"}, {"y"}).Output("y");
  return {conv.Text(), old.Text(), qdq.Text(), rows.Text(), opaque.Text()};
}

std::string Tensor() {
  onnx_wire::Tensor tensor;
  onnx::WriteTensor("t", ir::Tensor::Of<float>({2, 2}, {1, 2, 3, 4}), tensor);
  return tensor.SerializeAsString();
}

constexpr std::string_view kText = R"(graph(%x: tensor<1x2x4x4xf32>) -> (%y) {
  const %w = [1, 2, 3, 4, 5, 6] : tensor<3x2x1x1xi8, axis=0, scale=[0.01, 0.02, 0.03], zp=0>
  %q = Quantize(%x) : tensor<1x2x4x4xu8, scale=0.1, zp=128>
  %c = Conv@"conv"(%q, %w) {pads=[0, 0, 0, 0]} : tensor<1x3x4x4xu8, scale=0.5, zp=7>
  %y = Dequantize(%c) : tensor<1x3x4x4xf32>
  alias %old = %c
  retired %gone
}
)";

std::string Native() {
  const auto graph = text::Parse(kText, {.find_op = &ops::FindOp});
  return graph ? native::Write(*graph) : std::string();
}

constexpr std::string_view kProfile =
    R"({"octavo_profile": 1, "model_digest": "sha256:00", "preparation": 1, "samples": 2, "values": [
  {"name": "x", "min": -1, "max": 2, "histogram": {"low": -1, "high": 2, "counts": [1, 2, 3]},
   "non_finite": 0}]})";

// Profiles of other tools.
constexpr std::string_view kGlow =
    "---\nGlowToolsVersion: \"\"\n...\n---\nGraphPreLowerHash: 0x1\n...\n---\n"
    "- NodeOutputName: \"x:0\"\n  Min: -1\n  Max: 2\n  Histogram: [ 1, 2 ]\n...\n";
constexpr std::string_view kCache = "TRT-8000-EntropyCalibration2\nx: 3c010a14\ny: 3c010a15\n";
constexpr std::string_view kRanges = R"({"x": [0.1, 2.0], "y": {"lowest": 1, "highest": 2}})";

constexpr std::string_view kTarget =
    R"({"name": "npu", "base": "cpu-int8", "numerics": "onnx", "activations": ["i8"],
  "weights": {"dtype": "i8", "per_channel": true, "symmetric": true, "narrow_range": true},
  "bias_bits": 32, "scales": "any", "integer_ops": ["Conv", "MatMul", "MaxSplat"],
  "same_type": ["MaxPool"], "lower": ["Gemm"],
  "results": {"Softmax": {"scale": 0.00390625, "zero_point": 0}},
  "ops": [{"name": "MaxSplat", "domain": "npu", "quant": "same-as-input",
           "attributes": {"value": "float"}, "rescale": {"inputs": ["sunk"], "output": "raised"}}]})";

// A call as a client sent it.
std::string Call() {
  const auto bytes = Blob::MapFile(OCTAVO_SOURCE_DIR "/tests/data/recorded/optimize.bin");
  return bytes ? std::string(bytes->text()) : std::string();
}

// A worker's frames, their length before them, and the output file behind.
std::string Frames() {
  worker::v1::Outcome outcome;
  outcome.mutable_model()->set_name("m.onnx");
  outcome.mutable_model()->set_size_bytes(3);
  outcome.set_message("gate");
  outcome.mutable_facts()->add_output_sqnr_db(40);
  worker::v1::FromWorker frame;
  std::string frames;
  const auto add = [&] {
    const std::string bytes = frame.SerializeAsString();
    frames += {static_cast<char>(bytes.size()), 0, 0, 0};
    frames += bytes;
  };
  frame.mutable_progress()->set_stage("passes");
  frame.mutable_progress()->set_pass("quantize");
  add();
  frame.mutable_failed()->set_code(3);
  frame.mutable_failed()->set_message("Conv 'c': no weight");
  add();
  frame.mutable_done()->set_size_bytes(outcome.ByteSizeLong());
  add();
  return static_cast<char>(frames.size()) + frames + outcome.SerializeAsString();
}

int Run(const std::string& folder) {
  const ir::Tensor floats = ir::Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const ir::Tensor ints = ir::Tensor::Ints({1, 2, 3});
  std::vector<std::string> wire = Models();
  wire.push_back(Tensor());
  const std::vector<std::pair<std::string, std::vector<std::string>>> seeds = {
      {"wire", wire},
      {"target", {std::string(kTarget), R"({"name": "mine", "base": "cpu-int8"})"}},
      {"onnx", Models()},
      {"job", Models()},
      {"text", {std::string(kText)}},
      {"native", {Native()}},
      {"profile",
       {std::string(kProfile), std::string(kGlow), std::string(kCache), std::string(kRanges)}},
      {"call", {Call()}},
      {"frames", {Frames()}},
      {"http",
       {"GET /metrics HTTP/1.1\r\nHost: o\r\n\r\n",
        "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"}},
      {"npy", {data::WriteNpy(floats), data::WriteNpy(ints)}},
      {"npz",
       {data::WriteNpz({{"x", floats}}).value(),
        data::WriteNpz({{"x", floats}, {"y", ints}}).value()}},
      {"image",
       {data::Bytes(data::kPngRgb), data::Bytes(data::kPngPalette), data::Bytes(data::kJpeg),
        data::Bytes(data::kJpegProgressive)}}};
  for (const auto& [name, files] : seeds) {
    std::filesystem::create_directories(folder + "/" + name);
    for (size_t i = 0; i < files.size(); ++i) {
      const auto written = WriteFile(fmt::format("{}/{}/seed_{}", folder, name, i), files[i]);
      if (!written) {
        std::cerr << written.error().message << "\n";
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_seeds DIR\n";
    return 2;
  }
  return octavo::Run(argv[1]);
}
