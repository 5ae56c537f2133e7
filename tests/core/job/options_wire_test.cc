// SPDX-License-Identifier: Apache-2.0
// The table of options and octavo.v1.Options contain the same options.
#include "core/job/options_wire.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>

#include "core/options/option_table.h"

namespace octavo::job {
namespace {

using google::protobuf::FieldDescriptor;

// The fields of the message that correspond to a row.
std::vector<std::string> FieldNames(const OptionRow& row) {
  if (row.flag != OptionFlag::kPerChoice) return {std::string(row.name)};
  std::vector<std::string> names;
  for (const OptionChoice& choice : row.choices()) {
    names.emplace_back(choice.name);
    std::replace(names.back().begin(), names.back().end(), '-', '_');
  }
  return names;
}

// Such a field needs presence; otherwise the wire would drop a 0.
bool ZeroMeansMoreThanUnset(const OptionRow& row) {
  Options options;
  return SetOption(row, options, int64_t{0}) && options != Options();
}

bool TypeFits(const OptionRow& row, const FieldDescriptor& field) {
  using F = FieldDescriptor;
  switch (row.type) {
    case OptionType::kFlag:
      return field.cpp_type() == F::CPPTYPE_BOOL && !field.is_repeated();
    case OptionType::kInteger:
      return (field.cpp_type() == F::CPPTYPE_INT32 || field.cpp_type() == F::CPPTYPE_INT64) &&
             (field.has_presence() || !ZeroMeansMoreThanUnset(row));
    case OptionType::kReal:
      return field.cpp_type() == F::CPPTYPE_DOUBLE;
    case OptionType::kText:
      return field.cpp_type() == F::CPPTYPE_STRING && !field.is_repeated();
    case OptionType::kChoice:
      return row.flag == OptionFlag::kPerChoice
                 ? field.cpp_type() == F::CPPTYPE_BOOL
                 : field.cpp_type() == F::CPPTYPE_STRING && !field.is_repeated();
    case OptionType::kNames:
      return field.cpp_type() == F::CPPTYPE_STRING && field.is_repeated();
    case OptionType::kShapes:
      return field.is_map() && field.name() == "shape";
  }
  return false;
}

TEST(OptionsWire, EveryRowHasItsFieldAndEveryFieldItsRow) {
  std::set<std::string> known;
  for (const OptionRow& row : OptionTable()) {
    for (const std::string& name : FieldNames(row)) {
      const FieldDescriptor* field = v1::Options::descriptor()->FindFieldByName(name);
      ASSERT_NE(field, nullptr) << "octavo.v1.Options has no field " << name;
      EXPECT_TRUE(TypeFits(row, *field)) << name << " is " << field->DebugString();
      known.insert(name);
    }
  }
  for (int i = 0; i < v1::Options::descriptor()->field_count(); ++i) {
    const std::string& name = v1::Options::descriptor()->field(i)->name();
    EXPECT_TRUE(known.contains(name)) << "options.def has no row for " << name;
  }
}

// Each option with a value that is not its default.
constexpr const char* kArguments[] = {"target=pow2-npu",
                                      "emit=text",
                                      "schema=pow2",
                                      "activations=i16",
                                      "weights=i16",
                                      "granularity=per-tensor",
                                      "calibration=percentile:99.5",
                                      "keep_float=a",
                                      "keep_float=b",
                                      "output_type=no-float-outputs",
                                      "int16=d",
                                      "accuracy_budget=30.5",
                                      "search=true",
                                      "advise=true",
                                      "weights_only=c",
                                      "block=64",
                                      "numerics=pow2",
                                      "numerics_limit=exact",
                                      "no_quantize=true",
                                      "stop_before=lower",
                                      "skip=recognize",
                                      "passes=lower,quantize",
                                      "integer_io=true",
                                      "sink_quantize=true",
                                      "leave_integers=true",
                                      "own_parameters=true",
                                      "fold_budget=0",
                                      "external_over=0",
                                      "opset=13",
                                      "shape=x=1,2",
                                      "batch=4",
                                      "image=size=8",
                                      "cast=true",
                                      "samples=2",
                                      "holdout=3",
                                      "rounding=bias",
                                      "equalize=on",
                                      "strict_ops=true",
                                      "strict_profile=true",
                                      "require_sqnr=20.5",
                                      "require_cosine=0.5",
                                      "allow_random=true",
                                      "allow_non_finite=true",
                                      "deterministic=true",
                                      "output_name=n.onnx",
                                      "snapshots=true",
                                      "threads=3"};

TEST(OptionsWire, EveryOptionComesBackAsItWasSent) {
  Options options;
  for (const char* argument : kArguments) {
    const std::string_view text(argument);
    const size_t equals = text.find('=');
    const OptionRow* row = FindOption(text.substr(0, equals));
    ASSERT_NE(row, nullptr) << argument;
    ASSERT_TRUE(SetOptionText(*row, options, text.substr(equals + 1))) << argument;
  }
  for (const OptionRow& row : OptionTable()) {
    EXPECT_NE(row.get(options), row.get(Options())) << row.name << " is not tried above";
  }
  const auto received = OptionsFromWire(OptionsToWire(options));
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(*received, options);
  EXPECT_EQ(*OptionsFromWire({}), Options());
  EXPECT_EQ(*OptionsFromWire(OptionsToWire({})), Options());
}

TEST(OptionsWire, AWrongValueIsRefusedInTheWordsOfTheCommandLine) {
  v1::Options wire;
  wire.set_schema("affine");
  const auto choice = OptionsFromWire(wire);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::kUsage);
  EXPECT_EQ(choice.error().field, "schema");
  Options options;
  EXPECT_EQ(choice.error(), SetOptionText(*FindOption("schema"), options, "affine").error());
  wire.clear_schema();
  wire.set_batch(-1);
  EXPECT_EQ(OptionsFromWire(wire).error().message,
            "--batch '-1' must be a whole number, at least 1");
  wire.clear_batch();
  // A gate of 0 would never fail: it is refused, and not taken for an unset one.
  wire.set_require_sqnr(0);
  EXPECT_EQ(OptionsFromWire(wire).error().field, "require_sqnr");
  wire.clear_require_sqnr();
  wire.set_threads(0);
  EXPECT_EQ(OptionsFromWire(wire).error().field, "threads");
  wire.clear_threads();
  wire.set_per_channel(true);
  wire.set_per_tensor(true);
  EXPECT_EQ(OptionsFromWire(wire).error().field, "per_tensor");
}

}  // namespace
}  // namespace octavo::job
