// SPDX-License-Identifier: Apache-2.0
// The page's plots, and how it formats figures.
#include "core/report/html/histogram_plot.h"
#include "core/report/html/sqnr_plot.h"
#include "core/report/html/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/report/html/small_report.h"

namespace octavo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(SqnrPlot, ItsAxisEndsAt60Decibels) {
  Json values = {Value("a"), Value("image")};
  values[1]["sqnr_db"] = 145;
  const std::string plot = html::SqnrPlot(ValuesOf(values).values());
  EXPECT_THAT(plot, HasSubstr(">60 dB</text>"));
  EXPECT_THAT(plot, Not(HasSubstr(">70 dB</text>")));
  EXPECT_THAT(plot, HasSubstr("image: 145.0 dB accumulated"));
  EXPECT_THAT(plot, Not(HasSubstr("cy=\"-")));
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
