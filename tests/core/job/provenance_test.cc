// SPDX-License-Identifier: Apache-2.0
// The command line in a report.
#include "core/job/provenance.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace octavo::job {
namespace {

TEST(Provenance, TheCommandHasTheFilesAndWhatIsNotTheDefault) {
  Request request{.model = {.name = "m.onnx"}, .samples = {{.name = "random:1:2"}}};
  request.options.output_name = "int8.onnx";
  EXPECT_EQ(CommandOf(request), "octavo optimize m.onnx --data random:1:2 -o int8.onnx");
  request.profile = NamedBlob{.name = "p.json"};
  request.options.keep_float = {"/a/*", "b,c", "it's"};
  request.options.granularity = WeightScales::kPerTensor;
  request.options.shape = {{"x", {1, 3}}, {"y", {2}}};
  request.options.require_sqnr = 20.5;
  request.options.no_quantize = true;
  request.options.threads = 4;       // changes no byte
  request.options.snapshots = true;  // the command has another flag for it
  EXPECT_EQ(CommandOf(request),
            "octavo optimize m.onnx --data random:1:2 --profile p.json -o int8.onnx --per-tensor "
            "--keep-float '/a/*,b\\,c,it'\\''s' --no-quantize --shape x=1,3 --shape y=2 "
            "--require-sqnr 20.5");
}

TEST(Provenance, TheGivenOptionsComeBackFromAReport) {
  Request request{.model = {.name = "m.onnx"}};
  request.options.keep_float = {"/a/*", "b,c"};
  request.options.granularity = WeightScales::kPerTensor;
  request.options.shape = {{"x", {1, 3}}, {"y", {2}}};
  request.options.require_sqnr = 20.1;
  request.options.no_quantize = true;
  nlohmann::json report = {{"given_options", nlohmann::json::array()}};
  for (const v1::GivenOption& given : GivenOptions(request)) {
    report["given_options"].push_back({{"name", given.name()}, {"argument", given.argument()}});
  }
  const auto options = GivenOptionsOfReport(report.dump());
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(*options, request.options);
  report["given_options"].push_back({{"name", "frob"}, {"argument", "1"}});
  EXPECT_EQ(GivenOptionsOfReport(report.dump()).error().code, Code::kInvalidArgument);
  EXPECT_EQ(GivenOptionsOfReport("[]").error().code, Code::kInvalidArgument);
}

TEST(Provenance, ATargetFileStandsForItsName) {
  Request request{.model = {.name = "my model.onnx"}, .target = NamedBlob{.name = "mine.json"}};
  request.options.target = "folder/mine.json";
  request.samples = {{.name = "0/input_0.pb"}, {.name = "1/input_0.pb"}};
  EXPECT_EQ(CommandOf(request),
            "octavo optimize 'my model.onnx' --data FOLDER --target mine.json -o model.onnx");
}

TEST(Provenance, TheCommandNamesTheSamplesAsTheyWereGiven) {
  Request request{.model = {.name = "m.onnx"}};
  const auto command = [&](const std::vector<std::string>& names) {
    request.samples.clear();
    for (const std::string& name : names) request.samples.push_back({.name = name});
    const std::string text = CommandOf(request), begin = "octavo optimize m.onnx ";
    return text.substr(begin.size(),
                       text.size() - begin.size() - std::string(" -o model.onnx").size());
  };
  EXPECT_EQ(command({"a.npz"}), "--data a.npz");
  EXPECT_EQ(command({"a.jpg", "b/c.jpg"}), "--data FOLDER");
  EXPECT_EQ(command({"#0:ids=a.npy"}), "--data ids=a.npy");
  EXPECT_EQ(command({"#0:ids=0.npy", "#0:ids=1.npy", "#1:mask=m.npy"}),
            "--data ids=FOLDER --data mask=m.npy");
  EXPECT_EQ(command({"#0/a.npy", "#1/my b.npy"}), "--data a.npy --data 'my b.npy'");
  EXPECT_EQ(command({"a.npy", "labels:l.npy"}), "--data a.npy --labels l.npy");
}

TEST(Provenance, FilesHaveRoleNameSizeAndDigest) {
  Outcome outcome{.model = {"model.onnx", Blob(std::string("abc"))},
                  .external = {{"int8.onnx.data", Blob(std::string("d"))}}};
  const auto files = FilesOf(outcome, "int8.onnx");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].role(), "model");
  EXPECT_EQ(files[0].name(), "int8.onnx");
  EXPECT_EQ(files[0].bytes(), 3);
  EXPECT_EQ(files[0].sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(files[1].role(), "external");
}

}  // namespace
}  // namespace octavo::job
