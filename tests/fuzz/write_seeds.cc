// Writes the seeds of the fuzz targets into a folder: seeds DIR
#include <filesystem>
#include <iostream>

#include "core/data/npy.h"
#include "core/data/npz.h"
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
  return {conv.Text(), old.Text(), qdq.Text()};
}

int Run(const std::string& folder) {
  const ir::Tensor floats = ir::Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const ir::Tensor ints = ir::Tensor::Ints({1, 2, 3});
  const std::vector<std::pair<std::string, std::vector<std::string>>> seeds = {
      {"onnx", Models()},
      {"npy", {data::WriteNpy(floats), data::WriteNpy(ints)}},
      {"npz", {data::WriteNpz({{"x", floats}}), data::WriteNpz({{"x", floats}, {"y", ints}})}}};
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
