// SPDX-License-Identifier: Apache-2.0
#include "core/job/options_wire.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "core/options/option_table.h"

namespace octavo::job {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// The table and the message use the same names; tests/core/job/options_wire_test.cc checks that.
const FieldDescriptor& FieldOf(std::string_view name) {
  return *v1::Options::descriptor()->FindFieldByName(std::string(name));
}

// The field of a choice that has its own flag: "per-channel" -> per_channel.
const FieldDescriptor& FieldOf(const OptionChoice& choice) {
  std::string name(choice.name);
  std::ranges::replace(name, '-', '_');
  return FieldOf(name);
}

// Writes a value into a field of a message.
struct Writer {
  v1::Options& wire;
  const FieldDescriptor& field;
  const Reflection& reflection = *v1::Options::GetReflection();

  void operator()(bool value) const { reflection.SetBool(&wire, &field, value); }
  void operator()(int64_t value) const {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      reflection.SetInt32(&wire, &field, static_cast<int32_t>(value));
    } else {
      reflection.SetInt64(&wire, &field, value);
    }
  }
  void operator()(double value) const { reflection.SetDouble(&wire, &field, value); }
  void operator()(const std::string& value) const { reflection.SetString(&wire, &field, value); }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) reflection.AddString(&wire, &field, value);
  }
  void operator()(const ShapeMap& shapes) const {
    for (const auto& [name, dims] : shapes) {
      (*wire.mutable_shape())[name].mutable_dims()->Assign(dims.begin(), dims.end());
    }
  }
};

OptionValue Read(const OptionRow& row, const FieldDescriptor& field, const v1::Options& wire) {
  const Reflection& reflection = *v1::Options::GetReflection();
  switch (row.type) {
    case OptionType::kFlag:
      return reflection.GetBool(wire, &field);
    case OptionType::kInteger:
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
        return int64_t{reflection.GetInt32(wire, &field)};
      }
      return reflection.GetInt64(wire, &field);
    case OptionType::kReal:
      return reflection.GetDouble(wire, &field);
    case OptionType::kText:
    case OptionType::kChoice:
      return reflection.GetString(wire, &field);
    case OptionType::kNames: {
      std::vector<std::string> names;
      for (int i = 0; i < reflection.FieldSize(wire, &field); ++i) {
        names.push_back(reflection.GetRepeatedString(wire, &field, i));
      }
      return names;
    }
    case OptionType::kShapes: {
      ShapeMap shapes;
      for (const auto& [name, shape] : wire.shape()) {
        shapes[name].assign(shape.dims().begin(), shape.dims().end());
      }
      return shapes;
    }
  }
  return false;
}

bool HasValue(const FieldDescriptor& field, const v1::Options& wire) {
  const Reflection& reflection = *v1::Options::GetReflection();
  return field.is_repeated() ? reflection.FieldSize(wire, &field) > 0
                             : reflection.HasField(wire, &field);
}

Status ReadFlagPerChoice(const OptionRow& row, const v1::Options& wire, Options& options) {
  const Reflection& reflection = *v1::Options::GetReflection();
  std::string_view chosen;
  for (const OptionChoice& choice : row.choices()) {
    const FieldDescriptor& field = FieldOf(choice);
    if (!reflection.GetBool(wire, &field)) continue;
    if (!chosen.empty()) {
      return Fail(Code::kInvalidArgument, "--{} and --{} exclude each other", chosen, choice.name)
          .Field(field.name())
          .Reason("INVALID_SPEC");
    }
    chosen = choice.name;
  }
  return chosen.empty() ? Status() : SetOption(row, options, std::string(chosen));
}

}  // namespace

v1::Options OptionsToWire(const Options& options) {
  v1::Options wire;
  for (const OptionRow& row : OptionTable()) {
    if (!IsSet(row, options)) continue;
    const OptionValue value = row.get(options);
    if (row.flag == OptionFlag::kPerChoice) {
      for (const OptionChoice& choice : row.choices()) {
        if (choice.name == std::get<std::string>(value)) Writer{wire, FieldOf(choice)}(true);
      }
    } else {
      std::visit(Writer{wire, FieldOf(row.name)}, value);
    }
  }
  return wire;
}

Result<Options> OptionsFromWire(const v1::Options& wire) {
  Options options;
  for (const OptionRow& row : OptionTable()) {
    if (row.flag == OptionFlag::kPerChoice) {
      OCTAVO_CHECK(ReadFlagPerChoice(row, wire, options));
      continue;
    }
    const FieldDescriptor& field = FieldOf(row.name);
    if (!HasValue(field, wire)) continue;
    OCTAVO_CHECK(SetOption(row, options, Read(row, field, wire)));
  }
  return options;
}

}  // namespace octavo::job
