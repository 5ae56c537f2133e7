// SPDX-License-Identifier: Apache-2.0
#include "core/report/json/parse.h"

#include <google/protobuf/struct.pb.h>

#include <nlohmann/json.hpp>

#include "core/report/json/mapping.h"

namespace octavo::report {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Struct;
using google::protobuf::Value;
using nlohmann::json;

// Options are flat except for lists and the shapes of inputs.
constexpr int kMaxOptionDepth = 16;

Failure Wrong(const std::string& path, std::string_view must, const json& value) {
  return Fail(Code::kInvalidArgument, "'{}' of the report must be {}, not {}", path, must,
              value.type_name())
      .Field(path);
}

class Parser {
 public:
  explicit Parser(UnknownKeys unknown) : unknown_(unknown) {}

  Status ParseObject(const json& object, const std::string& path, Message& message) const {
    if (!object.is_object()) return Wrong(path, "an object", object);
    for (const auto& [key, value] : object.items()) {
      const std::string place = path.empty() ? key : path + "." + key;
      const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(key);
      if (field == nullptr || IsListOfScalar(*field)) {
        if (unknown_ == UnknownKeys::kIgnore) continue;
        return Fail(Code::kInvalidArgument, "'{}' of the report is not a key of {}", place,
                    message.GetDescriptor()->full_name())
            .Field(place);
      }
      if (value.is_null()) continue;
      OCTAVO_CHECK(ParseField(value, place, field, message));
    }
    return {};
  }

 private:
  Status ParseField(const json& value, const std::string& path, const FieldDescriptor* field,
                    Message& message) const {
    if (field->is_map()) return ParseMap(value, path, field, message);
    if (field->is_repeated()) return ParseList(value, path, field, message);
    const FieldDescriptor* list = ListOf(*field);
    if (list != nullptr && value.is_array()) return ParseList(value, path, list, message);
    return ParseElement(value, path, field, message);
  }

  Status ParseMap(const json& value, const std::string& path, const FieldDescriptor* field,
                  Message& message) const {
    if (!value.is_object()) return Wrong(path, "an object", value);
    for (const auto& [key, item] : value.items()) {
      Message* entry = message.GetReflection()->AddMessage(&message, field);
      entry->GetReflection()->SetString(entry, field->message_type()->map_key(), key);
      if (item.is_null()) continue;
      OCTAVO_CHECK(
          ParseElement(item, path + "." + key, field->message_type()->map_value(), *entry));
    }
    return {};
  }

  Status ParseList(const json& value, const std::string& path, const FieldDescriptor* field,
                   Message& message) const {
    if (!value.is_array()) return Wrong(path, "a list", value);
    for (size_t i = 0; i < value.size(); ++i) {
      OCTAVO_CHECK(ParseElement(value[i], fmt::format("{}[{}]", path, i), field, message));
    }
    return {};
  }

  // Sets a singular field or appends to a repeated one.
  Status ParseElement(const json& value, const std::string& path, const FieldDescriptor* field,
                      Message& message) const {
    const Reflection& set = *message.GetReflection();
    const bool list = field->is_repeated();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Message& part =
          list ? *set.AddMessage(&message, field) : *set.MutableMessage(&message, field);
      if (field->message_type() != Struct::descriptor()) return ParseObject(value, path, part);
      if (!value.is_object()) return Wrong(path, "an object", value);
      return ParseOptions(value, path, /*depth=*/0, static_cast<Struct&>(part));
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      if (!value.is_number_integer()) return Wrong(path, "an integer", value);
      const auto number = value.get<int64_t>();
      list ? set.AddInt64(&message, field, number) : set.SetInt64(&message, field, number);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      if (!value.is_number()) return Wrong(path, "a number", value);
      const auto number = value.get<double>();
      list ? set.AddDouble(&message, field, number) : set.SetDouble(&message, field, number);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      if (!value.is_boolean()) return Wrong(path, "true or false", value);
      const bool flag = value.get<bool>();
      list ? set.AddBool(&message, field, flag) : set.SetBool(&message, field, flag);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (!value.is_string()) return Wrong(path, "a string", value);
      const auto& text = value.get_ref<const std::string&>();
      list ? set.AddString(&message, field, text) : set.SetString(&message, field, text);
    } else {
      return Fail(Code::kInternal, "the report's parser does not know the type of '{}'",
                  field->full_name());
    }
    return {};
  }

  static Status ParseOptions(const json& object, const std::string& path, int depth,
                             Struct& options) {
    for (const auto& [key, item] : object.items()) {
      OCTAVO_CHECK(
          ParseOption(item, path + "." + key, depth + 1, (*options.mutable_fields())[key]));
    }
    return {};
  }

  static Status ParseOption(const json& item, const std::string& path, int depth, Value& value) {
    if (depth > kMaxOptionDepth) return Wrong(path, "nested less deeply", item);
    if (item.is_object()) return ParseOptions(item, path, depth, *value.mutable_struct_value());
    if (item.is_array()) {
      google::protobuf::ListValue& list = *value.mutable_list_value();
      for (const json& each : item) {
        OCTAVO_CHECK(ParseOption(each, path, depth + 1, *list.add_values()));
      }
    } else if (item.is_number()) {
      value.set_number_value(item.get<double>());
    } else if (item.is_string()) {
      value.set_string_value(item.get_ref<const std::string&>());
    } else if (item.is_boolean()) {
      value.set_bool_value(item.get<bool>());
    } else {
      value.set_null_value(google::protobuf::NULL_VALUE);
    }
    return {};
  }

  UnknownKeys unknown_;
};

}  // namespace

Result<v1::Report> ParseReport(std::string_view text, UnknownKeys unknown) {
  const json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    return Fail(Code::kInvalidArgument, "the report must be a JSON object");
  }
  v1::Report message;
  OCTAVO_CHECK(Parser(unknown).ParseObject(report, "", message));
  return message;
}

}  // namespace octavo::report
