// SPDX-License-Identifier: Apache-2.0
// Prints octavo.v1.Report and its parts as JSON, by reflection: a field that is added to
// report.proto is printed without further code.  The rule is at the top of report.proto, its
// exceptions are in mapping.cc.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

#include "octavo/v1/report.pb.h"

namespace octavo::report {

// Keys are in the order of declaration, those of maps sorted: equal messages give equal JSON.
nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// The text of report.json.  `options` is written as it is in place of the message's own, since a
// Struct keeps neither the order of keys nor the difference between 1 and 1.0.
std::string PrintReport(const v1::Report& report, nlohmann::ordered_json options);

// How every JSON report is laid out.  Bytes that are not UTF-8 become U+FFFD.
std::string Dump(const nlohmann::ordered_json& report);

}  // namespace octavo::report
