// SPDX-License-Identifier: Apache-2.0
// A small report with every figure of the page.
#pragma once

#include <string>
#include <string_view>

#include "core/report/json/parse.h"
#include "core/report/render_html.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace octavo::report {

using Json = nlohmann::json;

inline size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline Json Value(const std::string& name) {
  return Json{
      {"name", name},
      {"sqnr_db", 31.25},
      {"cosine", 0.9995},
      {"max_abs", 0.5},
      {"mean_abs", 0.01},
      {"max_steps", 7},
      {"steps_histogram", {60, 30, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {"saturated_ratio", 0.125},
      {"local_sqnr_db", 40.5},
      {"worst_channel", {{"axis", 1}, {"index", 5}, {"sqnr_db", 22.5}}},
      {"top1_agreement", 0.975},
      {"dtype", "u8"},
      {"scale", 0.0235},
      {"zero_point", 3},
      {"node", "n-" + name},
      {"op", "Conv"},
      {"error_share", 0.25},
      {"histogram", {{"low", -1.5}, {"high", 4.5}, {"float", {1, 5, 2}}, {"integer", {2, 4, 2}}}}};
}

inline Json Report() {
  return Json{
      {"octavo_version", "0.1.0"},
      {"action_digest", "sha256:abc"},
      {"numerics_mode", "onnx"},
      {"target", "cpu-int8"},
      {"options", {{"emit", "qdq"}, {"opset", 13}}},
      {"model",
       {{"nodes_before", 1200},
        {"nodes_after", 80},
        {"ops_before", {{"Conv", 52}}},
        {"ops_after", {{"Conv", 51}}},
        {"bytes_before", 4096000},
        {"bytes_after", 1024000}}},
      {"profile",
       {{"matched", 9}, {"unmatched_entries", {"old:0"}}, {"missing_values", Json::array()}}},
      {"rescales",
       {{"before", 14},
        {"after", 1},
        {"greedy_after", 4},
        {"kept", {{{"node", "add.r"}, {"reason", "the other input has its own scale"}}}}}},
      {"passes", {{{"name", "lower"}, {"seconds", 0.25}, {"changed", true}, {"nodes_after", 80}}}},
      {"ledger",
       {{{"pass", "absorb-rescales"},
         {"rule", "absorb-rescales/merge"},
         {"effect", "fewer-roundings"},
         {"node", "a"},
         {"values", {"a.r"}},
         {"count", 2}},
        {{"pass", "absorb-rescales"},
         {"rule", "absorb-rescales/merge"},
         {"effect", "fewer-roundings"},
         {"node", "b"},
         {"values", Json::array()},
         {"count", 3}}}},
      {"float_nodes", {{{"node", "s"}, {"op", "Softmax"}, {"reason", "kept by request"}}}},
      {"numerics",
       {{"samples", 8},
        {"samples_source", "data"},
        {"error_shares", {{"weights", 0.5}, {"activations", 0.5}, {"outputs", 0}}},
        {"outputs", {Value("logits")}},
        {"values", {Value("conv1"), Value("logits")}}}},
      {"weights",
       {{{"node", "n-conv1"},
         {"op", "Conv"},
         {"rounding", "descent"},
         {"reason", "why"},
         {"elements", 1000},
         {"changed", 120},
         {"error_share", 0.5}}}},
      {"advice",
       {{{"action", "calibration"},
         {"names", {"mse"}},
         {"gain_db", 1.25},
         {"cost_elements", 0},
         {"command", "octavo optimize m.onnx --calibration mse"},
         {"sqnr_db", 32.5}}}},
      {"warnings", {{{"code", "c1"}, {"message", "look at this"}, {"node", "n"}}}}};
}

inline v1::Report Message(const Json& report) {
  auto message = ParseReport(report.dump(), UnknownKeys::kRefuse);
  EXPECT_TRUE(message) << message.error().message;
  return message ? *message : v1::Report();
}

// The values of a report that contains only these.
inline v1::Numerics ValuesOf(const Json& values) {
  return Message(Json{{"numerics", {{"values", values}}}}).numerics();
}

inline std::string Page(const Json& report) { return RenderHtml(Message(report)); }

}  // namespace octavo::report
