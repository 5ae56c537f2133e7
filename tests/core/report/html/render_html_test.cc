// SPDX-License-Identifier: Apache-2.0
// The page shows the figures of the report for any names and with undefined figures.
#include "core/report/render_html.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/report/html/small_report.h"

namespace octavo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(RenderHtml, ShowsTheTrialOfEqualization) {
  EXPECT_THAT(Page(Report()), Not(HasSubstr("<h2>Equalization</h2>")));
  Json report = Report();
  report["equalize_trial"] = {{"score_db", 41.25}, {"equalized_score_db", 43.5}, {"chosen", true}};
  EXPECT_THAT(Page(report), HasSubstr("outputs: 41.2 dB with channels as they are, 43.5 dB with "
                                      "equalized channels. The job equalized them."));
}

TEST(RenderHtml, ShowsWhatASearchTried) {
  EXPECT_THAT(Page(Report()), Not(HasSubstr("<h2>Search</h2>")));
  Json report = Report();
  report["search"] = {{{"calibration", "minmax"},
                       {"rounding", "nearest"},
                       {"score_db", 39.5},
                       {"chosen", false},
                       {"equalize", false}},
                      {{"calibration", "mse"},
                       {"rounding", "descent"},
                       {"score_db", 41.25},
                       {"chosen", true},
                       {"equalize", true}}};
  const std::string page = Page(report);
  for (
      const std::string_view text :
      {"<h2>Search</h2>",
       "<tr><th scope=\"row\">minmax</th><td>nearest</td><td></td><td class=\"number\">39.5 dB</td>"
       "<td></td></tr>",
       "<tr><th scope=\"row\">mse</th><td>descent</td><td>yes</td><td class=\"number\">41.2 dB</td>"
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

TEST(RenderHtml, BeginsWithOneSentence) {
  Json report = Report();
  report["numerics"]["samples_role"] = "held-out";
  EXPECT_THAT(Page(report),
              HasSubstr("<h1>31.2 dB on 8 held-out samples; 50 % of the error is weights, 25 % <a "
                        "href=\"#value-0\">conv1</a>.</h1>"));
  report["numerics"]["error_shares"] = nullptr;
  EXPECT_THAT(Page(report), HasSubstr("<h1>31.2 dB on 8 held-out samples.</h1>"));
  report["numerics"]["outputs"][0]["exact"] = true;
  EXPECT_THAT(Page(report), HasSubstr("<h1>Equal to the float model on 8 held-out samples.</h1>"));
  report["numerics"]["samples"] = 0;
  EXPECT_THAT(Page(report), HasSubstr("<h1>No samples ran"));
}

TEST(RenderHtml, GivesAdviceWithItsGainAndItsCommand) {
  Json report = Report();
  for (int i = 2; i <= 5; ++i) report["advice"].push_back(report["advice"][0]);
  const std::string page = Page(report);
  EXPECT_THAT(page, HasSubstr("+1.2 dB</strong> Calibration <code>mse</code> <span "
                              "class=\"quiet\">to 32.5 dB, same size"));
  EXPECT_EQ(CountOf(page, "<code>octavo optimize m.onnx --calibration mse</code>"), 5u);
  EXPECT_THAT(page, HasSubstr("<summary>2 more</summary><ol class=\"advice\" start=\"4\">"));
}

TEST(RenderHtml, SaysHowToGetAdvice) {
  Json report = Report();
  report["advice"] = Json::array();
  report["command"] = "octavo optimize m.onnx -o 'a b.onnx'";
  report["numerics"]["samples_role"] = "held-out";
  EXPECT_THAT(Page(report), HasSubstr("No other option that was tried gains"));
  report["numerics"]["error_shares"] = nullptr;
  EXPECT_THAT(Page(report), HasSubstr("<code>octavo optimize m.onnx -o &#39;a b.onnx&#39; --advise"
                                      "</code>"));
  // A job that chooses by itself refuses --advise.
  report["search"] = {{{"calibration", "mse"}, {"rounding", "descent"}, {"score_db", 30.0}}};
  EXPECT_THAT(Page(report), Not(HasSubstr("--advise")));
  report.erase("search");
  report["accuracy_budget"] = {{"target_db", 30.0}};
  EXPECT_THAT(Page(report), Not(HasSubstr("--advise")));
}

// The names of the rows, in the order of the page.
std::vector<std::string> RowsOf(const std::string& page) {
  std::vector<std::string> rows;
  constexpr std::string_view kRow = "<details class=\"row\" id=\"value-", kName = "<span><code>";
  for (size_t at = page.find(kRow); at != page.npos; at = page.find(kRow, at + 1)) {
    const size_t name = page.find(kName, at) + kName.size();
    rows.push_back(page.substr(name, page.find('<', name) - name));
  }
  return rows;
}

TEST(RenderHtml, HasOneRowForEachGroupAndTheLargestShareFirst) {
  Json report = Report();
  Json values = Json::array();
  for (const char* name : {"a", "b", "a.moved", "c"}) values.push_back(Value(name));
  values[0]["group"] = values[2]["group"] = 0;
  values[1]["group"] = 1;
  values[1]["error_share"] = 0.75;
  values[3]["error_share"] = nullptr;  // a float value
  report["numerics"]["values"] = values;
  const std::string page = Page(report);
  EXPECT_THAT(RowsOf(page), ::testing::ElementsAre("b", "a", "c"));
  EXPECT_THAT(page, HasSubstr("Conv n-a · and 1 more"));
  EXPECT_THAT(page, HasSubstr("<span id=\"value-2\"><code>a.moved</code>"));
  EXPECT_THAT(page, HasSubstr("4 values in 3 groups"));
}

TEST(RenderHtml, WithoutSharesTheValueThatAddsMostNoiseIsFirst) {
  Json report = Report();
  Json& values = report["numerics"]["values"];
  for (Json& value : values) value["error_share"] = nullptr;
  values[1]["local_sqnr_db"] = 12.5;
  EXPECT_THAT(RowsOf(Page(report)), ::testing::ElementsAre("logits", "conv1"));
}

TEST(RenderHtml, MarksSaturationAndDrift) {
  Json report = Report();
  report["numerics"]["values"][0]["drift"] = {{"share", 0.02}, {"excess", 3}};
  const std::string page = Page(report);
  EXPECT_THAT(page, HasSubstr("<span class=\"badge warn\">12.5 % saturated</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"badge warn\">2.00 % outside its range</span>"));
}

TEST(RenderHtml, ListsTheWeightsOfEachLayer) {
  EXPECT_THAT(Page(Report()),
              HasSubstr("<code>n-conv1</code></th><td>Conv</td><td>descent: why</td><td "
                        "class=\"number\">50.0 %</td><td class=\"number\">120 of 1,000</td>"));
}

TEST(RenderHtml, AThousandValuesAreUnder3Megabytes) {
  Json report = Report();
  Json& values = report["numerics"]["values"];
  values = Json::array();
  for (int i = 0; i < 1000; ++i) {
    Json value = Value("onnx::a/rather/long/name/of/a/value_" + std::to_string(i));
    Json& histogram = value["histogram"];
    for (const char* key : {"float", "integer"}) {
      histogram[key] = Json::array();
      for (int bin = 0; bin < 64; ++bin) histogram[key].push_back((bin * 7919 + i) % 100'000);
    }
    for (int k = 0; k < 17; ++k) value["steps_histogram"][k] = 1000 / (1 + k);
    values.push_back(value);
  }
  const std::string page = Page(report);
  EXPECT_EQ(RowsOf(page).size(), 1000u);
  EXPECT_LT(page.size(), 3'000'000u);
}

TEST(RenderHtml, HasOneScriptOfItsOwnAndNoExternalResources) {
  const std::string page = Page(Report());
  EXPECT_EQ(CountOf(page, "<script"), 1u);
  for (const std::string_view text : {"src=", "url(", "http:", "https:", "@import"}) {
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
    EXPECT_THAT(Page(report), HasSubstr("on <strong class=\"bad\">" + source + " data</strong>"));
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

}  // namespace
}  // namespace octavo::report
