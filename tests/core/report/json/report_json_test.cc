// SPDX-License-Identifier: Apache-2.0
// The message and report.json contain the same figures, for every field of the message.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "core/report/json/parse.h"
#include "core/report/json/print.h"
#include "tests/support/report_keys.h"

namespace octavo::report {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::ordered_json;

// Sets every field of a message to a distinct value; repeated fields get two elements.
class Filler {
 public:
  void Fill(Message& message) {
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message.GetDescriptor()->field(i);
      const int count = field->is_repeated() ? 2 : 1;
      for (int k = 0; k < count; ++k) Set(message, field);
    }
  }

 private:
  void Set(Message& message, const FieldDescriptor* field) {
    const auto& set = *message.GetReflection();
    const bool list = field->is_repeated();
    ++next_;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Message& part =
          list ? *set.AddMessage(&message, field) : *set.MutableMessage(&message, field);
      if (auto* options = dynamic_cast<google::protobuf::Struct*>(&part)) {
        (*options->mutable_fields())["batch"].set_number_value(next_);
        return;
      }
      return Fill(part);
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      list ? set.AddInt64(&message, field, next_) : set.SetInt64(&message, field, next_);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      const double value = next_ + 0.1;
      list ? set.AddDouble(&message, field, value) : set.SetDouble(&message, field, value);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      set.SetBool(&message, field, true);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      const std::string value = "text " + std::to_string(next_);
      list ? set.AddString(&message, field, value) : set.SetString(&message, field, value);
    } else {
      FAIL() << "the report's parser does not know the type of " << field->full_name();
    }
  }

  int64_t next_ = 0;
};

v1::Report Parsed(std::string_view text) {
  auto report = ParseReport(text, UnknownKeys::kRefuse);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : v1::Report();
}

TEST(ReportJson, HoldsEveryFieldOfTheMessage) {
  v1::Report report;
  Filler().Fill(report);
  const std::string text = Dump(ToJson(report));
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  // A value has either per-tensor or per-channel quantization parameters; both use the same two
  // keys.
  for (auto* values : {report.mutable_numerics()->mutable_values(),
                       report.mutable_numerics()->mutable_outputs()}) {
    for (v1::ValueNumerics& value : *values) {
      value.clear_scale();
      value.clear_zero_point();
    }
  }
  EXPECT_TRUE(differencer.Compare(ExpectMatchesMessage(text), report)) << difference;
}

TEST(ReportJson, HasAKeyForEveryFieldOfAnEmptyMessage) {
  v1::Report report;
  report.mutable_model();
  report.mutable_profile();
  report.mutable_rescales()->add_kept();
  report.add_passes();
  report.mutable_numerics()->add_values()->mutable_histogram();
  report.mutable_against()->add_values()->mutable_local();
  report.add_by_rule()->add_outputs();
  ExpectMatchesMessage(Dump(ToJson(report)));
}

TEST(ReportJson, KeysAreInTheOrderOfDeclaration) {
  v1::Rescales rescales;
  rescales.set_before(3);
  v1::KeptRescale& kept = *rescales.add_kept();
  kept.set_node("a.r");
  EXPECT_EQ(ToJson(rescales).dump(),
            R"({"before":3,"after":0,"greedy_after":0,"elements_before":0,"elements_after":0,)"
            R"("greedy_elements_after":0,"kept":[{"node":"a.r","reason":""}]})");
  v1::ModelSummary model;
  for (const char* op : {"Relu", "Conv", "Add"}) (*model.mutable_ops_before())[op] = 2;
  EXPECT_EQ(ToJson(model)["ops_before"].dump(), R"({"Add":2,"Conv":2,"Relu":2})");
}

TEST(ReportJson, AnUndefinedFigureIsNull) {
  const ordered_json value = ToJson(v1::ValueNumerics());
  for (const char* key :
       {"sqnr_db", "cosine", "max_abs", "mean_abs", "max_steps", "local_sqnr_db", "saturated_ratio",
        "worst_channel", "top1_agreement", "scale", "zero_point", "histogram"}) {
    EXPECT_TRUE(value.at(key).is_null()) << key;
  }
  EXPECT_EQ(value.at("name"), "");
  EXPECT_EQ(value.at("steps_histogram"), ordered_json::array());
}

TEST(ReportJson, IntegersAreNumbersAndDoublesKeepEveryBit) {
  v1::ValueNumerics value;
  value.set_max_steps(int64_t{1} << 60);
  value.set_sqnr_db(0.1);
  value.set_max_abs(2);
  const ordered_json json = ToJson(value);
  EXPECT_EQ(json["max_steps"].dump(), "1152921504606846976");
  EXPECT_EQ(json["sqnr_db"].dump(), "0.1");
  EXPECT_EQ(json["max_abs"].dump(), "2.0");
}

TEST(ReportJson, ParametersPerChannelAreAListUnderTheKeyOfTheScalar) {
  v1::Report report;
  v1::ValueNumerics& value = *report.mutable_numerics()->add_values();
  for (const double scale : {0.5, 0.25}) value.add_scales(scale);
  for (const int64_t zero_point : {0, -3}) value.add_zero_points(zero_point);
  const ordered_json json = ToJson(value);
  EXPECT_EQ(json["scale"].dump(), "[0.5,0.25]");
  EXPECT_EQ(json["zero_point"].dump(), "[0,-3]");
  EXPECT_FALSE(json.contains("scales"));
  const v1::Report again = Parsed(Dump(ToJson(report)));
  EXPECT_EQ(again.numerics().values(0).scales_size(), 2);
  EXPECT_FALSE(again.numerics().values(0).has_scale());
  value.clear_scales();
  value.set_scale(0.5);
  EXPECT_EQ(ToJson(value)["scale"].dump(), "0.5");
}

TEST(ReportJson, ASectionThatWasNotAskedForHasNoKey) {
  v1::Report report;
  report.add_passes();
  report.add_ledger();
  ordered_json json = ToJson(report);
  EXPECT_FALSE(json.contains("against"));
  EXPECT_FALSE(json.contains("by_rule"));
  EXPECT_FALSE(json["passes"][0].contains("seconds"));
  EXPECT_FALSE(json["ledger"][0].contains("count"));
  report.mutable_against();
  report.add_by_rule();
  report.mutable_passes(0)->set_seconds(0);
  report.mutable_ledger(0)->set_count(1);
  json = ToJson(report);
  EXPECT_TRUE(json.contains("against"));
  EXPECT_FALSE(json["by_rule"][0].contains("applications"));
  EXPECT_EQ(json["passes"][0]["seconds"], 0.0);
  EXPECT_EQ(json["ledger"][0]["count"], 1);
}

TEST(ReportJson, SamplesOfNoSourceAreNull) {
  v1::Numerics numerics;
  EXPECT_TRUE(ToJson(numerics)["samples_source"].is_null());
  numerics.set_samples_source("data");
  EXPECT_EQ(ToJson(numerics)["samples_source"], "data");
}

TEST(ReportJson, OptionsArePrintedAsGiven) {
  const std::string text =
      PrintReport({}, {{"target", "npu"}, {"batch", 0}, {"require_sqnr", 1.0}});
  EXPECT_NE(
      text.find("\"options\": {\n  \"target\": \"npu\",\n  \"batch\": 0,\n  \"require_sqnr\": 1.0"),
      std::string::npos)
      << text;
}

TEST(ReportJson, TheParserNamesWhatIsWrong) {
  const auto message_of = [](std::string_view text) {
    const auto report = ParseReport(text, UnknownKeys::kRefuse);
    return report ? "parsed" : report.error().message;
  };
  EXPECT_EQ(message_of("[]"), "the report must be a JSON object");
  EXPECT_EQ(message_of("{"), "the report must be a JSON object");
  EXPECT_EQ(message_of(R"({"model": {"nodes_before": 1.5}})"),
            "'model.nodes_before' of the report must be an integer, not number");
  EXPECT_EQ(message_of(R"({"numerics": {"values": [{}, {"name": 3}]}})"),
            "'numerics.values[1].name' of the report must be a string, not number");
  EXPECT_EQ(message_of(R"({"model": {"ops_before": {"Conv": "many"}}})"),
            "'model.ops_before.Conv' of the report must be an integer, not string");
  EXPECT_EQ(message_of(R"({"model": {"flops": 1}})"),
            "'model.flops' of the report is not a key of octavo.v1.ModelSummary");
  EXPECT_EQ(message_of(R"({"numerics": {"values": [{"scales": [1]}]}})"),
            "'numerics.values[0].scales' of the report is not a key of octavo.v1.ValueNumerics");
  EXPECT_EQ(message_of(R"({"options": )" + std::string(40, '[') + std::string(40, ']') + "}"),
            "'options' of the report must be an object, not array");
  EXPECT_THAT(
      message_of(R"({"options": {"a": )" + std::string(40, '[') + std::string(40, ']') + "}}"),
      testing::HasSubstr("nested less deeply"));
}

TEST(ReportJson, KeysOfANewerVersionAreIgnoredOnDemand) {
  const auto report = ParseReport(R"({"target": "t", "added_later": [1]})", UnknownKeys::kIgnore);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->target(), "t");
}

}  // namespace
}  // namespace octavo::report
