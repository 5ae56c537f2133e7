// SPDX-License-Identifier: Apache-2.0
// Jobs on graphs as text, with a profile and a target that a test writes in a line.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/job/job.h"

namespace octavo::job {

using nlohmann::json;

// Parses entries from "x:-1:1 y:0:2".
inline NamedBlob ProfileOf(const std::string& entries) {
  json values = json::array();
  std::istringstream words(entries);
  for (std::string word; words >> word;) {
    const size_t last = word.rfind(':'), first = word.rfind(':', last - 1);
    values.push_back({{"name", word.substr(0, first)},
                      {"min", std::stod(word.substr(first + 1, last - first - 1))},
                      {"max", std::stod(word.substr(last + 1))}});
  }
  return {"p.json", Blob(json{{"octavo_profile", 1}, {"values", values}}.dump())};
}

inline Request JobOf(std::string_view model, const std::string& entries,
                     const std::string& target = {}) {
  Request request;
  request.model = {"net.graph", Blob(std::string(model))};
  request.profile = ProfileOf(entries);
  if (!target.empty()) request.target = NamedBlob{"t.json", Blob(std::string(target))};
  request.options.emit = EmitForm::kText;
  request.options.deterministic = true;
  request.options.threads = 1;
  return request;
}

// A target file: a built-in target with changes.
inline std::string Like(const std::string& base, const std::string& more = {}) {
  return fmt::format(R"({{"name": "t", "base": "{}"{}}})", base, more);
}

struct GraphDone {
  json report = {};
  std::string text = {};
};

inline GraphDone RunGraphJob(const Request& request) {
  const auto outcome = job::Run(request, {}, {});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  return {json::parse(outcome->report_json), std::string(outcome->model.bytes.text())};
}

}  // namespace octavo::job
