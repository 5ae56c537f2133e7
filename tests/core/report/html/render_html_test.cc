// SPDX-License-Identifier: Apache-2.0
// The page shows the figures of the report for any names and with undefined figures.
#include "core/report/render_html.h"

#include <string>

#include "core/report/html/histogram_plot.h"
#include "core/report/html/sqnr_plot.h"
#include "core/report/html/text.h"
#include "core/report/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace octavo::report {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Json Value(const std::string& name) {
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
      {"histogram", {{"low", -1.5}, {"high", 4.5}, {"float", {1, 5, 2}}, {"integer", {2, 4, 2}}}}};
}

Json Report() {
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
        {"outputs", {Value("logits")}},
        {"values", {Value("conv1"), Value("logits")}}}},
      {"warnings", {{{"code", "c1"}, {"message", "look at this"}, {"node", "n"}}}}};
}

v1::Report Message(const Json& report) {
  auto message = ParseReport(report.dump(), UnknownKeys::kRefuse);
  EXPECT_TRUE(message) << message.error().message;
  return message ? *message : v1::Report();
}

// The values of a report that contains only these.
v1::Numerics ValuesOf(const Json& values) {
  return Message(Json{{"numerics", {{"values", values}}}}).numerics();
}

std::string Page(const Json& report) { return RenderHtml(Message(report)); }

TEST(RenderHtml, ShowsFiguresOfBothKindsOfSamples) {
  EXPECT_EQ(Page(Report()).find("calibration samples"), std::string::npos);
  Json report = Report();
  report["numerics"]["samples_role"] = "held-out";
  report["numerics"]["outputs"][0]["calibration_sqnr_db"] = 40.5;
  const std::string page = Page(report);
  for (const std::string_view text :
       {"on 8 held-out samples; 40.5 dB on calibration samples",
        "float model on 8 held-out samples", "on calibration samples</th>",
        "<td class=\"number\">40.5 dB</td>"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

TEST(RenderHtml, ShowsWhatASearchTried) {
  EXPECT_THAT(Page(Report()), Not(HasSubstr("<h2>Search</h2>")));
  Json report = Report();
  report["search"] = {
      {{"calibration", "minmax"}, {"rounding", "nearest"}, {"score_db", 39.5}, {"chosen", false}},
      {{"calibration", "mse"}, {"rounding", "descent"}, {"score_db", 41.25}, {"chosen", true}}};
  const std::string page = Page(report);
  for (const std::string_view text :
       {"<h2>Search</h2>",
        "<tr><th scope=\"row\">minmax</th><td>nearest</td><td class=\"number\">39.5 dB</td>"
        "<td></td></tr>",
        "<tr><th scope=\"row\">mse</th><td>descent</td><td class=\"number\">41.2 dB</td>"
        "<td>yes</td></tr>"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(RenderHtml, ShowsEachFigureOfTheSummary) {
  const std::string page = Page(Report());
  for (const std::string_view text :
       {"4.00×", "3.9 MiB → 1.0 MiB", "1,200 → 80", "1,120 fewer", "14 → 1",
        "13 removed; a greedy placement would leave 4", "31.2 dB", "97.5 %", "on 8 samples",
        "cpu-int8", "look at this", "the other input has its own scale", "kept by request",
        "sha256:abc", "5 of axis 1 (22.5 dB)"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(RenderHtml, GroupsTheLedgerByRuleAndAddsItsCounts) {
  const std::string page = Page(Report());
  EXPECT_EQ(CountOf(page, "<strong>absorb-rescales/merge</strong>"), 1u);
  EXPECT_THAT(page, HasSubstr("<span class=\"number\">5</span>"));
  EXPECT_THAT(page, HasSubstr("5 applications of 1 rule,"));
}

TEST(RenderHtml, HasNoScriptsAndNoExternalResources) {
  const std::string page = Page(Report());
  for (const std::string_view text : {"<script", "src=", "url(", "http:", "https:", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(text)));
  }
}

TEST(RenderHtml, IsTheSameForTheSameReport) { EXPECT_EQ(Page(Report()), Page(Report())); }

// Replaces every string of `json` by `text`.
Json WithTexts(const Json& json, const std::string& text) {
  if (json.is_string()) return text;
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& item : json) list.push_back(WithTexts(item, text));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [key, item] : json.items()) object[key] = WithTexts(item, text);
  return object;
}

TEST(RenderHtml, EscapesEveryTextOfTheReport) {
  Json report = WithTexts(Report(), "\"><img onerror='x'>&");
  report["options"]["<i>key"] = Json{{"<b>", "</code>"}};
  report["model"]["ops_before"]["<u>op"] = 1;
  const std::string page = Page(report);
  for (const std::string_view text : {"<img", "onerror='", "<i>key", "<b>", "<u>op", "\"><img"}) {
    EXPECT_THAT(page, Not(HasSubstr(text)));
  }
  EXPECT_THAT(page, HasSubstr("&quot;&gt;&lt;img onerror=&#39;x&#39;&gt;&amp;"));
}

TEST(RenderHtml, ReplacesBytesThatAreNotUtf8) {
  v1::Report report = Message(Report());
  report.mutable_numerics()->mutable_values(0)->set_name(std::string("a\xff\xc3(\x01z", 6));
  google::protobuf::Value& option = (*report.mutable_options()->mutable_fields())["emit"];
  option.mutable_list_value()->add_values()->set_string_value("\xfe");
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, HasSubstr("a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBDz"));
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  EXPECT_THAT(page, Not(HasSubstr("\xfe")));
}

// Collects copies of the report in which one key's value is null.
void EachWithANull(const Json& whole, const Json::json_pointer& at, std::vector<Json>& found) {
  const Json& here = whole[at];
  if (!here.is_structured()) return;
  for (const auto& [key, item] : here.items()) {
    const Json::json_pointer place = here.is_array() ? at / std::stoul(key) : at / key;
    if (here.is_object()) {
      Json changed = whole;
      changed[place] = nullptr;
      found.push_back(std::move(changed));
    }
    EachWithANull(whole, place, found);
  }
}

TEST(RenderHtml, AnyFigureMayBeNull) {
  std::vector<Json> reports = {Json::object()};
  EachWithANull(Report(), Json::json_pointer(), reports);
  ASSERT_GT(reports.size(), 100u);
  for (const Json& report : reports) {
    const std::string page = Page(report);
    EXPECT_THAT(page, HasSubstr("</html>"));
    EXPECT_THAT(page, Not(HasSubstr(">null<")));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr(">inf")));
  }
}

TEST(RenderHtml, CallsAValueWithoutAnyErrorExact) {
  Json report = Report();
  Json& output = report["numerics"]["outputs"][0];
  output["sqnr_db"] = nullptr;
  output["exact"] = true;
  EXPECT_THAT(Page(report), HasSubstr("<div class=\"figure good\">exact</div>"));
  output["exact"] = false;
  EXPECT_THAT(Page(report), HasSubstr("not defined"));
}

TEST(RenderHtml, MarksFiguresOfRandomAndSyntheticSamples) {
  Json report = Report();
  EXPECT_THAT(Page(report), Not(HasSubstr("random data")));
  for (const std::string source : {"random", "synthetic"}) {
    report["numerics"]["samples_source"] = source;
    EXPECT_THAT(Page(report),
                HasSubstr("on <strong class=\"bad\">" + source + " data</strong>: 8 samples"));
  }
}

TEST(RenderHtml, ShowsEveryWarningWithItsCode) {
  Json report = Report();
  report["warnings"].push_back({{"code", "few_samples"}, {"message", "only 4"}, {"node", ""}});
  const std::string page = Page(report);
  for (const std::string_view text :
       {"2 warnings", "look at this", "c1", "only 4", "few_samples"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(RenderHtml, CountsParametersPerChannel) {
  Json report = Report();
  report["numerics"]["values"][0]["scale"] = {0.5, 0.25, 0.125};
  report["numerics"]["values"][0]["zero_point"] = {0, 0, 0};
  EXPECT_EQ(CountOf(Page(report), "3, per channel"), 2u);
}

TEST(SqnrPlot, LeavesAGapWhereAFigureIsNull) {
  Json values = Json::array();
  for (int i = 0; i < 5; ++i) values.push_back(Value("v" + std::to_string(i)));
  EXPECT_EQ(CountOf(html::SqnrPlot(ValuesOf(values).values()), "<path class=\"accumulated\""), 1u);
  values[2]["sqnr_db"] = nullptr;
  const std::string plot = html::SqnrPlot(ValuesOf(values).values());
  EXPECT_EQ(CountOf(plot, "<path class=\"accumulated\""), 2u);
  EXPECT_EQ(CountOf(plot, "class=\"dot-accumulated\""), 4u);
  EXPECT_EQ(CountOf(plot, "class=\"dot-local\""), 5u);
}

TEST(SqnrPlot, OfNoFiguresIsEmpty) {
  EXPECT_EQ(html::SqnrPlot({}), "");
  const Json undefined = {{{"name", "a"}, {"sqnr_db", nullptr}}};
  EXPECT_EQ(html::SqnrPlot(ValuesOf(undefined).values()), "");
}

TEST(SqnrPlot, NumbersTheAxisIfThereAreTooManyNames) {
  Json values = Json::array();
  for (int i = 0; i < 500; ++i) values.push_back(Value("layer"));
  const std::string plot = html::SqnrPlot(ValuesOf(values).values());
  EXPECT_THAT(plot, HasSubstr(">451</text>"));
  EXPECT_THAT(plot, Not(HasSubstr("<circle class=\"dot")));
}

TEST(HistogramPlot, MarksTheBoundsOfTheTypeWithinThePlot) {
  v1::ValueNumerics value = ValuesOf(Json::array({Value("v")})).values(0);
  EXPECT_EQ(CountOf(html::HistogramPlot(value, 0), "class=\"limit\""), 1u);  // -0.07; 5.9 is out
  value.set_scale(0.0117);
  EXPECT_EQ(CountOf(html::HistogramPlot(value, 0), "class=\"limit\""), 2u);
}

TEST(HistogramPlot, OfAnEmptyRangeIsEmpty) {
  v1::ValueNumerics value = ValuesOf(Json::array({Value("v")})).values(0);
  value.mutable_histogram()->set_high(-1.5);
  EXPECT_EQ(html::HistogramPlot(value, 0), "");
}

TEST(StepsPlot, DescribesTheShares) {
  EXPECT_THAT(html::StepsPlot(ValuesOf(Json::array({Value("v")})).values(0), 0),
              HasSubstr("60.0 % of the elements are equal, 30.0 % differ by one LSB."));
}

TEST(Text, FormatsFigures) {
  EXPECT_EQ(html::Count(0), "0");
  EXPECT_EQ(html::Count(-1234567), "-1,234,567");
  EXPECT_EQ(html::Count(-123), "-123");
  EXPECT_EQ(html::Bytes(1023), "1023 B");
  EXPECT_EQ(html::Bytes(5 << 20), "5.0 MiB");
  EXPECT_EQ(html::Percent(1.0), "100.00 %");
  EXPECT_EQ(html::Percent(0.00001), "< 0.01 %");
  EXPECT_EQ(html::Percent(std::nullopt), "–");
  EXPECT_EQ(html::Shorten("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(html::Shorten("äöüäöü", 5), "ä…ü");
}

}  // namespace
}  // namespace octavo::report
