// SPDX-License-Identifier: Apache-2.0
// Prints octavo.v1.Report and its parts as JSON by reflection, so a new field of report.proto needs
// no code here.  The top of report.proto states the rule; mapping.cc lists its exceptions.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

#include "octavo/v1/report.pb.h"

namespace octavo::report {

// Prints keys in order of declaration, and the keys of maps sorted: equal messages give equal JSON.
nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// Returns the text of report.json.  `options` replaces the message's own options, because a Struct
// keeps neither the order of keys nor the difference between 1 and 1.0.
std::string PrintReport(const v1::Report& report, nlohmann::ordered_json options);

// The layout of every JSON report.  Replaces bytes that are not UTF-8 by U+FFFD.
std::string Dump(const nlohmann::ordered_json& report);

}  // namespace octavo::report
