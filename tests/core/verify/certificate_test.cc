// SPDX-License-Identifier: Apache-2.0
// Certificates as files: what is written is read again; hostile files are refused, each by its
// message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/sha256.h"
#include "core/job/certificate_file.h"

namespace octavo::verify {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Certificate Small() {
  const std::string data = "four";
  Certificate certificate{.octavo_version = "1",
                          .numerics_mode = "onnx",
                          .options = {{"numerics_limit", "exact"}},
                          .rules = nlohmann::ordered_json::array(),
                          .before_sha256 = Sha256Of(std::string_view("x"))};
  certificate.steps.push_back(
      {.applications = {{"p", "p/r", "exact", "n", {"v"}}}, .edits = {{1, {"b"}, {"c", "d"}}}});
  certificate.data.emplace(Sha256Of(data), Blob(data));
  return certificate;
}

std::string ErrorOf(std::string bytes) {
  const auto read = Read(Blob(std::move(bytes)));
  return read ? "" : read.error().message;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CertificateFile, ReadsWhatIsWritten) {
  const std::string bytes = job::WriteCertificate(Small());
  const auto read = Read(Blob(bytes));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(job::WriteCertificate(*read), bytes);
  ASSERT_EQ(read->steps.size(), 1u);
  EXPECT_EQ(read->steps[0].applications[0].rule, "p/r");
  EXPECT_EQ(read->steps[0].edits[0].after, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(read->data.begin()->second.text(), "four");
}

TEST(CertificateFile, KeepsNamesOfAnyBytes) {
  Certificate certificate = Small();
  const std::string name = "\xff \"\\\n \xc3\xa9 \xed\xa0\x80";
  certificate.steps[0].applications[0].node = name;
  certificate.steps[0].applications[0].values = {name, ""};
  const auto read = Read(Blob(job::WriteCertificate(certificate)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->steps[0].applications[0].node, name);
  EXPECT_EQ(read->steps[0].applications[0].values, (std::vector<std::string>{name, ""}));
  const std::string bytes = job::WriteCertificate(Small());
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("node":"n")", R"("node":"\\q")")),
              HasSubstr("no escaped name"));
}

TEST(CertificateFile, RefusesEveryCut) {
  const std::string bytes = job::WriteCertificate(Small());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(ErrorOf(bytes.substr(0, length)), "") << length;
  }
}

TEST(CertificateFile, RefusesWhatItsBoundsForbid) {
  const std::string bytes = job::WriteCertificate(Small());
  EXPECT_THAT(ErrorOf("not json\n"), HasSubstr("not a JSON object"));
  EXPECT_THAT(ErrorOf("{}\n"), HasSubstr("version 1"));
  EXPECT_THAT(ErrorOf(bytes + "x"), HasSubstr("bytes follow"));
  EXPECT_THAT(ErrorOf(Replaced(bytes, "four", "five")), HasSubstr("do not have digest"));
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("steps":1)", R"("steps":257)")),
              HasSubstr("more than 256"));
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("steps":1)", R"("steps":-1)")), HasSubstr("not a count"));
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("bytes":4)", R"("bytes":9223372036854775807)")),
              HasSubstr("ends within data"));
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("values":["v"])", R"("values":[1])")),
              HasSubstr("'values' lists no strings"));
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(ErrorOf(Replaced(bytes, R"("rules":[])", R"("rules":)" + deep)),
              HasSubstr("nested too deep"));
}

// Without it, or with another kind of value, the message names the field and its line.
void ExpectToBeRequired(const std::vector<json>& lines, size_t line, const json::json_pointer& at) {
  const auto bytes = [&](const json& changed) {
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i)
      text += (i == line ? changed : lines[i]).dump() + "\n";
    return text + "four";
  };
  const std::string what = fmt::format("certificate line {}: '{}' ", line + 1, at.back());
  json without = lines[line], other = lines[line];
  without[at.parent_pointer()].erase(at.back());
  other[at] = true;
  for (const json& changed : {without, other}) {
    EXPECT_THAT(ErrorOf(bytes(changed)), HasSubstr(what)) << at.to_string();
  }
}

TEST(CertificateFile, NamesEachFieldThatIsMissing) {
  const std::string bytes = job::WriteCertificate(Small());
  std::istringstream text(bytes);
  std::vector<json> lines(2);
  for (json& line : lines) text >> line;
  int fields = 0;
  for (size_t line = 0; line < lines.size(); ++line) {
    const json flat = lines[line].flatten();
    for (const auto& [pointer, value] : flat.items()) {
      for (json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
        if (!lines[line][at.parent_pointer()].is_object()) continue;
        ExpectToBeRequired(lines, line, at);
        ++fields;
      }
    }
  }
  EXPECT_GE(fields, 20);
}

// Steps are written piece by piece.
TEST(CertificateFile, HasTheBytesThatTheLibraryWrites) {
  Certificate certificate = Small();
  std::string bytes;
  for (int c = 1; c < 128; ++c) bytes += static_cast<char>(c);
  std::erase(bytes, '\n');
  certificate.steps[0].edits[0].before = {bytes, "\xc3\xa9 \\\"", ""};
  certificate.steps[0].edits[0].after = {};
  certificate.steps.emplace_back();
  std::istringstream text(job::WriteCertificate(certificate));
  for (std::string line; std::getline(text, line) && line != "four";) {
    EXPECT_EQ(nlohmann::ordered_json::parse(line).dump(), line);
  }
}

TEST(Edits, MakeOneTextIntoTheOther) {
  const std::vector<std::vector<std::string>> texts = {
      {}, {"a"}, {"a", "b", "c"}, {"c", "a"}, {"x", "x", "x"}, {"a", "x", "b", "x", "c"}};
  for (const auto& from : texts) {
    for (const auto& to : texts) {
      const auto made = Apply(from, job::Diff(from, to));
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(*made, to);
    }
  }
  EXPECT_TRUE(job::Diff(texts[2], texts[2]).empty());
}

TEST(Edits, RefuseLinesThatAreNotThere) {
  const std::vector<std::string> from = {"a", "b", "c"};
  EXPECT_FALSE(Apply(from, {{0, {"b"}, {}}}));
  EXPECT_FALSE(Apply(from, {{3, {"c"}, {}}}));
  EXPECT_FALSE(Apply(from, {{4, {}, {"d"}}}));
  EXPECT_FALSE(Apply(from, {{1, {"b"}, {}}, {0, {"a"}, {}}}));
  EXPECT_TRUE(Apply(from, {{3, {}, {"d"}}}));
}

}  // namespace
}  // namespace octavo::verify
