// SPDX-License-Identifier: Apache-2.0
#include "tests/support/report_keys.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/json/mapping.h"
#include "core/report/json/parse.h"

namespace octavo {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using nlohmann::json;

void ExpectEveryKey(const json& object, const Descriptor* message, const std::string& path) {
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* field = message->field(i);
    if (report::IsListOfScalar(*field)) continue;
    const std::string place = path + "/" + field->name();
    if (!object.contains(field->name())) {
      EXPECT_EQ(report::WhenEmptyOf(*field), report::WhenEmpty::kOmitted) << place << " is missing";
      continue;
    }
    const bool is_object = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const json& value = object[field->name()];
    if (!is_object || field->is_map() || value.is_null()) continue;
    if (field->message_type()->file() != message->file()) continue;  // options
    if (!field->is_repeated()) {
      ExpectEveryKey(value, field->message_type(), place);
      continue;
    }
    for (size_t k = 0; k < value.size(); ++k) {
      ExpectEveryKey(value[k], field->message_type(), place + "/" + std::to_string(k));
    }
  }
}

}  // namespace

v1::Report ExpectMatchesMessage(std::string_view report_json) {
  auto message = report::ParseReport(report_json, report::UnknownKeys::kRefuse);
  EXPECT_TRUE(message) << message.error().message;
  if (!message) return {};
  ExpectEveryKey(json::parse(report_json), v1::Report::descriptor(), "");
  return *std::move(message);
}

}  // namespace octavo
