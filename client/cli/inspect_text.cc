// SPDX-License-Identifier: Apache-2.0
#include "client/cli/inspect_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/table.h"
#include "client/cli/terminal_text.h"

namespace octavo::cli {
namespace {

using nlohmann::json;

// Lists of more quantization parameters are cut: --json has them all.
constexpr size_t kMostParameters = 3;

std::string CellOf(const json& value) {
  if (value.is_null()) return "";
  return ForTerminal(value.is_string() ? value.get<std::string>() : value.dump());
}

// "1x3x224x224"; a dimension that is a name stands as it is.
std::string ShapeOf(const json& dims) {
  std::string text;
  for (const json& dim : dims) text += (text.empty() ? "" : "x") + CellOf(dim);
  return text.empty() ? "scalar" : text;
}

std::string ParametersOf(const json& values) {
  std::string text;
  for (size_t i = 0; i < values.size() && i < kMostParameters; ++i) {
    text += i == 0 ? "" : " ";
    // Scales are 32-bit floats: six digits tell them apart for a person.
    text += values[i].is_number_float() ? fmt::format("{:.6g}", values[i].get<double>())
                                        : values[i].dump();
  }
  if (values.size() > kMostParameters) text += fmt::format(" .. ({})", values.size());
  return text;
}

std::string Section(const std::string& title, const Table& table) {
  if (table.empty()) return "";
  return fmt::format("\n{}:\n{}", title, table.Text(2));
}

Table TypesOf(const json& values) {
  Table table({"name", "type", "shape"});
  for (const json& value : values) {
    const bool known = !value["shape"].is_null();
    table.Add({CellOf(value["name"]), value["dtype"].is_null() ? "?" : CellOf(value["dtype"]),
               known ? ShapeOf(value["shape"]) : "?"});
  }
  return table;
}

Table QuantizedOf(const json& values) {
  Table table({"name", "type", "shape", "scale", "zero point", "axis"});
  for (const json& value : values) {
    table.Add({CellOf(value["name"]), CellOf(value["dtype"]), ShapeOf(value["shape"]),
               ParametersOf(value["scale"]), ParametersOf(value["zero_point"]),
               CellOf(value["axis"])});
  }
  return table;
}

Table OpaqueOf(const json& nodes) {
  Table table({"node", "op", "domain", "reason"});
  for (const json& row : nodes) {
    table.Add(
        {CellOf(row["node"]), CellOf(row["op"]), CellOf(row["domain"]), CellOf(row["reason"])});
  }
  return table;
}

}  // namespace

std::string InspectText(const std::string& text) {
  const json found = json::parse(text);
  const auto list = [&](const char* key) { return found.value(key, json::array()); };
  std::string answer;
  for (const char* key : {"producer", "opset", "ir_version", "bytes", "nodes", "rescales"}) {
    answer += fmt::format("{:<12}{}\n", key, found.contains(key) ? CellOf(found[key]) : "");
  }
  answer += fmt::format("{:<12}{}\n", "digest", CellOf(found["digest"]));
  answer += Section("Inputs", TypesOf(list("inputs")));
  answer += Section("Outputs", TypesOf(list("outputs")));
  Table ops({"op", "nodes"});
  for (const auto& [op, count] : found["ops"].items()) ops.Add({ForTerminal(op), count.dump()});
  answer += Section("Operators", ops);
  answer += Section("Quantized values", QuantizedOf(list("quantized")));
  Table unsupported({"node", "op", "reason"});
  for (const json& row : list("unsupported")) {
    unsupported.Add({CellOf(row["node"]), CellOf(row["op"]), CellOf(row["reason"])});
  }
  answer += Section("Without an integer form", unsupported);
  answer += Section("Not supported: these nodes stay as they are", OpaqueOf(list("opaque")));
  return answer +
         Section("Float because they follow an unsupported node", OpaqueOf(list("not_calibrated")));
}

}  // namespace octavo::cli
