// SPDX-License-Identifier: Apache-2.0
#include "core/report/json/print.h"

#include <google/protobuf/struct.pb.h>

#include <cmath>
#include <map>

#include "core/report/json/mapping.h"

namespace octavo::report {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::ordered_json;

// The value of a singular field, or element `index` of a repeated one.
ordered_json ElementJson(const Message& message, const FieldDescriptor* field, int index = 0) {
  const Reflection& get = *message.GetReflection();
  const bool list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return list ? get.GetRepeatedInt32(message, field, index) : get.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return list ? get.GetRepeatedInt64(message, field, index) : get.GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return list ? get.GetRepeatedUInt32(message, field, index) : get.GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return list ? get.GetRepeatedUInt64(message, field, index) : get.GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return list ? get.GetRepeatedDouble(message, field, index) : get.GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return list ? get.GetRepeatedFloat(message, field, index) : get.GetFloat(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return list ? get.GetRepeatedBool(message, field, index) : get.GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return (list ? get.GetRepeatedEnum(message, field, index) : get.GetEnum(message, field))
          ->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return list ? get.GetRepeatedString(message, field, index) : get.GetString(message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(list ? get.GetRepeatedMessage(message, field, index)
                         : get.GetMessage(message, field));
  }
  return nullptr;
}

// The keys of the message's maps are strings, as JSON's keys are.
ordered_json MapJson(const Message& message, const FieldDescriptor* field) {
  const FieldDescriptor* key = field->message_type()->map_key();
  const FieldDescriptor* value = field->message_type()->map_value();
  std::map<std::string, ordered_json> sorted;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    const Message& entry = message.GetReflection()->GetRepeatedMessage(message, field, i);
    sorted[entry.GetReflection()->GetString(entry, key)] = ElementJson(entry, value);
  }
  return sorted;
}

ordered_json ListJson(const Message& message, const FieldDescriptor* field) {
  ordered_json list = ordered_json::array();
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    list.push_back(ElementJson(message, field, i));
  }
  return list;
}

bool IsEmpty(const Message& message, const FieldDescriptor* field) {
  if (field->is_repeated()) return message.GetReflection()->FieldSize(message, field) == 0;
  // For a field without presence, HasField is true if the value is not zero.
  return !message.GetReflection()->HasField(message, field);
}

ordered_json FieldJson(const Message& message, const FieldDescriptor* field) {
  if (field->is_map()) return MapJson(message, field);
  if (field->is_repeated()) return ListJson(message, field);
  const FieldDescriptor* list = ListOf(*field);
  if (list != nullptr && !IsEmpty(message, list)) return ListJson(message, list);
  const bool undefined = field->has_presence() || WhenEmptyOf(*field) == WhenEmpty::kNull;
  if (undefined && IsEmpty(message, field)) return nullptr;
  return ElementJson(message, field);
}

ordered_json StructJson(const google::protobuf::Struct& object);

ordered_json ValueJson(const google::protobuf::Value& value) {
  using google::protobuf::Value;
  switch (value.kind_case()) {
    case Value::kNumberValue: {
      const double number = value.number_value();
      const bool whole = std::trunc(number) == number && std::fabs(number) < 9e15;
      return whole ? ordered_json(static_cast<int64_t>(number)) : ordered_json(number);
    }
    case Value::kStringValue:
      return value.string_value();
    case Value::kBoolValue:
      return value.bool_value();
    case Value::kStructValue:
      return StructJson(value.struct_value());
    case Value::kListValue: {
      ordered_json list = ordered_json::array();
      for (const Value& item : value.list_value().values()) list.push_back(ValueJson(item));
      return list;
    }
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      return nullptr;
  }
  return nullptr;
}

ordered_json StructJson(const google::protobuf::Struct& object) {
  std::map<std::string, ordered_json> sorted;
  for (const auto& [key, value] : object.fields()) sorted[key] = ValueJson(value);
  return sorted;
}

}  // namespace

ordered_json ToJson(const Message& message) {
  if (message.GetDescriptor() == google::protobuf::Struct::descriptor()) {
    return StructJson(static_cast<const google::protobuf::Struct&>(message));
  }
  if (message.GetDescriptor() == google::protobuf::Value::descriptor()) {
    return ValueJson(static_cast<const google::protobuf::Value&>(message));
  }
  ordered_json object = ordered_json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (IsListOfScalar(*field)) continue;
    if (WhenEmptyOf(*field) == WhenEmpty::kOmitted && IsEmpty(message, field)) continue;
    object[field->name()] = FieldJson(message, field);
  }
  return object;
}

std::string PrintReport(const v1::Report& report, ordered_json options) {
  ordered_json json = ToJson(report);
  json["options"] = std::move(options);
  return Dump(json);
}

std::string Dump(const ordered_json& report) {
  return report.dump(1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace octavo::report
