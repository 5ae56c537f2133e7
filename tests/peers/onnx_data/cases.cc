// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/onnx_data/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/onnx/wire/model_proto.h"

namespace octavo::onnx_data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpanded = "_expanded";

// The only operator of a model except constants; "" if there are several.
Result<std::string> OnlyOperator(const std::string& path) {
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  OCTAVO_TRY(const onnx::ModelProto proto, onnx::ParseModel(bytes));
  std::string only;
  for (const onnx_wire::Node& node : proto.model.graph().node()) {
    if (node.op_type() == "Constant" && proto.model.graph().node_size() > 1) continue;
    if (!only.empty()) return std::string();
    only = node.op_type();
  }
  return only;
}

}  // namespace

Result<std::vector<Case>> ListCases(const std::string& root) {
  std::vector<Case> cases;
  std::map<std::string, std::string> labels;
  std::error_code error;
  for (const fs::directory_entry& group : fs::directory_iterator(root, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(group.path(), error)) {
      const fs::path model = entry.path() / "model.onnx";
      if (!fs::exists(model)) continue;  // `real` names models that must be downloaded
      const std::string group_name = group.path().filename().string();
      const std::string name = group_name + "/" + entry.path().filename().string();
      OCTAVO_TRY(std::string label, OnlyOperator(model.string()));
      if (label.empty()) label = group_name + " graphs";
      labels[name] = label;
      cases.push_back({name, entry.path().string(), std::move(label)});
    }
  }
  if (error) return Fail(Code::kUsage, "'{}': {}", root, error.message());
  for (Case& entry : cases) {
    if (!entry.name.ends_with(kExpanded)) continue;
    const auto plain = labels.find(entry.name.substr(0, entry.name.size() - kExpanded.size()));
    if (plain != labels.end()) entry.label = plain->second;
  }
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

Result<std::map<std::string, std::string>> ReadUnsupported(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(Code::kUsage, "'{}' cannot be read", path);
  std::map<std::string, std::string> cases;
  std::string reason, line;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      reason = line.substr(2);
      continue;
    }
    if (reason.empty()) return Fail(Code::kUsage, "'{}': '{}' has no reason", path, line);
    if (!cases.emplace(line, reason).second) {
      return Fail(Code::kUsage, "'{}': '{}' is listed twice", path, line);
    }
  }
  return cases;
}

}  // namespace octavo::onnx_data
