// SPDX-License-Identifier: Apache-2.0
// The command line: what a user types, and the resulting exit code, output lines and files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/external_files.h"
#include "client/cli/program.h"
#include "tests/server/service/loopback.h"
#include "tests/support/temporary_folder.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;
using server::FakeRunner;

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder with a model, a profile and samples, and a function that runs the program in it.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    Write("m.onnx", "model");
    Write("s.npz", "samples");
  }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    Host host{.out = out_,
              .err = err_,
              .environment = [this](const std::string& name) -> std::optional<std::string> {
                if (const auto it = environment_.find(name); it != environment_.end()) {
                  return it->second;
                }
                return std::nullopt;
              },
              .version = "0.1.0",
              .run_job =
                  [this](const job::Request& request, const StopToken& stop,
                         const job::Observer& observer) {
                    request_ = request;
                    return runner_.AsRunner()(request, stop, observer);
                  },
              .add_by_rule = by_rule_,
              .list_external = [this](const job::NamedBlob&) { return external_; },
              .render_html = [](std::string_view json) -> Result<std::string> {
                return "<html>" + std::string(json);
              }};
    return RunProgram(args, host);
  }
  // Runs `octavo optimize m.onnx -o out.onnx ARGS`.
  int Optimize(std::vector<std::string> args) {
    args.insert(args.begin(), {"optimize", Path("m.onnx"), "-o", Path("out.onnx")});
    return Run(args);
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path() / "folder";
  std::ostringstream out_, err_;
  std::map<std::string, std::string> environment_;
  std::vector<ExternalFile> external_;
  FakeRunner runner_;
  job::Request request_;
  RuleMeasurer by_rule_;
};

TEST_F(Cli, OptimizeWritesModelReportAndHtml) {
  EXPECT_EQ(
      Optimize({"--data", Path("s.npz"), "--report", Path("r.json"), "--html", Path("r.html")}), 0)
      << err_.str();
  EXPECT_EQ(ReadText(Path("out.onnx")), "ledom");
  EXPECT_EQ(ReadText(Path("r.json")), FakeRunner::OutcomeOf(request_).report_json);
  EXPECT_TRUE(ReadText(Path("r.html")).starts_with("<html>{"));
  EXPECT_EQ(request_.samples.at(0).name, "s.npz");
  EXPECT_EQ(request_.options.emit, EmitForm::kQdq);
  EXPECT_NE(err_.str().find("octavo: passes\n"), std::string::npos);
}

TEST_F(Cli, RunAndDiffTakeANumericsMode) {
  Write("f.graph", R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x4xf32>
}
)");
  Write("q.graph", R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %x.q = Quantize(%x) : tensor<1x4xi8, scale=0.02, zp=1>
  %y.q = Relu(%x.q) : tensor<1x4xi8, scale=0.01, zp=-128>
  %y = Dequantize(%y.q) : tensor<1x4xf32>
}
)");
  const std::vector<std::string> data = {"--data", "random:1:2"};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), data.begin(), data.end());
    return Run(args);
  };
  EXPECT_EQ(with({"run", Path("q.graph"), "-o", Path("out"), "--numerics", "tflite"}), 0)
      << err_.str();
  EXPECT_EQ(with({"diff", Path("f.graph"), Path("q.graph"), "--numerics", "tflite", "--against",
                  "glow-cpu"}),
            0)
      << err_.str();
  const auto report = nlohmann::json::parse(out_.str());
  EXPECT_EQ(report["numerics_mode"], "tflite");
  EXPECT_EQ(report["against"]["numerics_mode"], "glow-cpu");
  EXPECT_EQ(report["against"]["values"][1]["node"], "y.q");
  EXPECT_EQ(with({"run", Path("q.graph"), "-o", Path("out"), "--numerics", "abacus"}), 2);
  EXPECT_EQ(with({"run", Path("q.graph"), "-o", Path("out"), "--numerics", "pow2"}), 4);
}

constexpr const char* kRows = R"({"by_rule": [
 {"pass": "place-rescales", "rules": ["place-rescales/sink"], "effect": "exact", "count": 3, "measured": true,
  "parts": [{"pass": "place-rescales", "rule": "place-rescales/sink", "effect": "exact", "count": 2},
            {"pass": "place-rescales", "rule": "place-rescales/hoist", "effect": "exact", "count": 1}],
  "outputs": [{"name": "y", "elements": 40, "changed": 3, "max_steps": 1, "max_abs": 0.5,
   "sqnr_db_before": 40.126, "sqnr_db_after": null, "violates_exact": true}]},
 {"pass": "merge-constants", "rules": ["merge-constants/quantize-constant"], "effect": "exact", "count": 9, "measured": false,
  "parts": [{"pass": "merge-constants", "rule": "merge-constants/quantize-constant", "effect": "exact", "count": 9}],
  "outputs": []}]})";

TEST_F(Cli, DiffByRuleIsATableAndAViolationOfExactFails) {
  Write("f.graph", R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x4xf32>
}
)");
  std::string violation = "place-rescales/sink is recorded as exact, but ..";
  by_rule_ = [&](const std::string&, const job::ByRule&, const job::ModelInput&,
                 const job::ModelInput&, const StopToken&,
                 const job::Observer&) -> Result<job::RuleReport> {
    return job::RuleReport{.report_json = kRows, .violation = violation};
  };
  const std::vector<std::string> args = {"diff",     Path("f.graph"), Path("f.graph"),
                                         "--data",   "random:1:2",    "--by-rule",
                                         "--report", Path("r.json"),  "--quiet"};
  EXPECT_EQ(Run(args), 1);
  EXPECT_EQ(err_.str(), "octavo: error: " + violation + "\n");
  EXPECT_EQ(ReadText(Path("r.json")), kRows);  // written despite the violation
  EXPECT_EQ(
      out_.str(),
      "times  rule                               effect  output  changed  max LSB  dB before  "
      "dB after\n"
      "    2  place-rescales/sink                exact\n"
      "    1  place-rescales/hoist               exact   y       3 of 40        1      40.13  "
      "       -  NOT EXACT\n"
      "    9  merge-constants/quantize-constant  exact   (in every graph measured)\n"
      "y: 40.13 dB before the first rule, - dB after the last\n");
  violation.clear();
  EXPECT_EQ(Run(args), 0);
  EXPECT_EQ(Run({"diff", Path("f.graph"), Path("f.graph"), "--data", "random:1:2", "--each"}), 2);
}

TEST_F(Cli, QuietPrintsNothing) {
  EXPECT_EQ(Optimize({"--data", "random:1:4", "--quiet"}), 0);
  EXPECT_EQ(err_.str() + out_.str(), "");
  EXPECT_EQ(request_.samples.at(0).name, "random:1:4");
}

TEST_F(Cli, EveryOptionOfQuantizationReachesTheJob) {
  std::istringstream line(
      "--data random:0 --target tflite --emit qlinear --schema pow2 --activations i8 --weights i16 "
      "--per-tensor --calibration percentile:99.9 --keep-float Softmax,head --weights-only LSTM "
      "--numerics tflite "
      "--numerics-limit exact --no-quantize --strict-profile");
  ASSERT_EQ(Optimize({std::istream_iterator<std::string>(line), {}}), 0) << err_.str();
  const Options& options = request_.options;
  EXPECT_EQ(options.target, "tflite");
  EXPECT_EQ(options.emit, EmitForm::kQlinear);
  EXPECT_EQ(options.schema, target::SchemeKind::kPow2);
  EXPECT_EQ(options.activations, ir::DType::kI8);
  EXPECT_EQ(options.weights, ir::DType::kI16);
  EXPECT_EQ(options.granularity, WeightScales::kPerTensor);
  EXPECT_EQ(Name(options.calibration), "percentile:99.9");
  EXPECT_EQ(options.keep_float, (std::vector<std::string>{"Softmax", "head"}));
  EXPECT_EQ(options.weights_only, (std::vector<std::string>{"LSTM"}));
  EXPECT_EQ(options.numerics, &numerics::kTflite);
  EXPECT_EQ(options.numerics_limit, NumericsLimit::kExact);
  EXPECT_TRUE(options.no_quantize);
  EXPECT_TRUE(options.strict_profile);
}

TEST_F(Cli, EveryOptionOfPipelineAndFormReachesTheJob) {
  std::istringstream line(
      "--data random:0 --stop-before lower --skip canonicalize,recognize --passes lower,quantize "
      "--integer-io --sink-quantize --leave-integers --own-parameters --fold-budget 17 --opset 13 "
      "--shape x=1,3,8,8 --shape a=b=2 --batch 4 --require-sqnr 20 --require-cosine 0.9 "
      "--external-over 9 --threads 2 --deterministic --allow-random");
  ASSERT_EQ(Optimize({std::istream_iterator<std::string>(line), {}}), 0) << err_.str();
  const Options& options = request_.options;
  EXPECT_EQ(options.stop_before, "lower");
  EXPECT_EQ(options.skip, (std::vector<std::string>{"canonicalize", "recognize"}));
  EXPECT_EQ(options.passes, (std::vector<std::string>{"lower", "quantize"}));
  EXPECT_TRUE(options.integer_io && options.sink_quantize && options.leave_integers);
  EXPECT_TRUE(options.own_parameters);
  EXPECT_EQ(options.fold_budget, 17);
  EXPECT_EQ(options.external_over, 9);
  EXPECT_EQ(options.opset, 13);
  EXPECT_EQ(options.shape.at("x"), (std::vector<int64_t>{1, 3, 8, 8}));
  EXPECT_EQ(options.shape.at("a=b"), (std::vector<int64_t>{2}));
  EXPECT_EQ(options.batch, 4);
  EXPECT_EQ(options.require_sqnr, 20);
  EXPECT_EQ(options.require_cosine, 0.9);
  EXPECT_EQ(options.threads, 2);
  EXPECT_TRUE(options.deterministic);
}

struct Mistake {
  std::vector<std::string> args;
  std::string names;  // text that the error line must contain
};

TEST_F(Cli, AMistakeIsExit2WithOneLineThatNamesIt) {
  const Mistake mistakes[] = {
      {{"--bogus"}, "--bogus"},
      {{"--emit", "tosa"}, "--emit"},
      {{"--schema", "affine"}, "--schema"},
      {{"--calibration", "percentile:"}, "--calibration"},
      {{"--calibration", "percentile:101"}, "--calibration"},
      {{"--numerics-limit", "any"}, "--numerics-limit"},
      {{"--shape", "x=1,,3"}, "--shape"},
      {{"--shape", "x=1,0"}, "--shape"},
      {{"--batch", "0"}, "--batch"},
      {{"--per-channel", "--per-tensor"}, "--per-tensor"},
      {{"--data", "random:x"}, "--data"},
      {{"--data", "nowhere.npz"}, "nowhere.npz"},
      {{"--data", "\x1b]0;owned\x07.npz"}, "\\x1B]0;owned\\x07.npz"},
      {{"--profile", "nowhere.json"}, "nowhere.json"},
      {{"--profile", Path("s.npz"), "--require-sqnr", "20"}, "--require-sqnr"},
      {{"--data"}, "--data"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(Optimize(mistake.args), 2) << mistake.names;
    const std::string line = err_.str();
    EXPECT_TRUE(line.starts_with("octavo: error: ")) << line;
    EXPECT_NE(line.find(mistake.names), std::string::npos) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  }
}

TEST_F(Cli, NoCommandAndAnUnknownOneAreUsageErrors) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"fold"}), 2);
  EXPECT_EQ(Run({"optimize"}), 2);
}

TEST_F(Cli, AnOutputOfUnknownExtensionNeedsEmit) {
  EXPECT_EQ(Run({"optimize", Path("m.onnx"), "-o", Path("out.bin")}), 2);
  EXPECT_NE(err_.str().find("--emit"), std::string::npos);
  EXPECT_EQ(Run({"optimize", Path("m.onnx"), "-o", Path("out.graph"), "--quiet"}), 0);
  EXPECT_EQ(request_.options.emit, EmitForm::kText);
}

TEST_F(Cli, TheJobsErrorsBecomeExitCodesAndJson) {
  Write("m.onnx", "broken");
  EXPECT_EQ(Optimize({"--data", "random:0", "--quiet"}), 3);
  EXPECT_EQ(err_.str(), "octavo: error: Conv 'c1': the weight has no elements\n");
  EXPECT_EQ(Optimize({"--data", "random:0", "--json"}), 3);
  EXPECT_EQ(nlohmann::json::parse(err_.str()),
            nlohmann::json({{"code", "INVALID_ARGUMENT"},
                            {"reason", "INVALID_MODEL"},
                            {"message", "Conv 'c1': the weight has no elements"},
                            {"node", "c1"},
                            {"field", nullptr}}));
}

TEST_F(Cli, AUsageErrorIsJsonToo) {
  EXPECT_EQ(Optimize({"--emit", "tosa", "--json"}), 2);
  const auto error = nlohmann::json::parse(err_.str());
  EXPECT_EQ(error["code"], "USAGE");
  EXPECT_EQ(error["field"], "--emit");
}

TEST_F(Cli, AFailedGateIsExit5AndTheOutputsAreWritten) {
  EXPECT_EQ(Optimize({"--data", Path("s.npz"), "--require-sqnr", "101", "--quiet", "--report",
                      Path("r.json")}),
            5);
  EXPECT_EQ(ReadText(Path("out.onnx")), "ledom");
  EXPECT_FALSE(ReadText(Path("r.json")).empty());
  EXPECT_EQ(err_.str(), "octavo: error: gate failed: sqnr 40.0 dB is below 101 dB\n");
}

TEST_F(Cli, ADepfileNamesEveryFileReadAndMakesTheReportDeterministic) {
  Write("w ts.bin", "w");
  Write("t.json", "{}");
  external_ = {{.name = "w", .path = "w ts.bin"}};
  ASSERT_EQ(Optimize({"--data", Path("s.npz"), "--target", Path("t.json"), "--depfile", Path("d.d"),
                      "--quiet"}),
            0)
      << err_.str();
  EXPECT_EQ(ReadText(Path("d.d")), Path("out.onnx") + ": \\\n  " + Path("m.onnx") + " \\\n  " +
                                       Path("w\\ ts.bin") + " \\\n  " + Path("s.npz") + " \\\n  " +
                                       Path("t.json") + "\n");
  EXPECT_TRUE(request_.options.deterministic);
  EXPECT_EQ(request_.target->name, "t.json");
  EXPECT_EQ(request_.external_data.at(0).name, "w");
  EXPECT_EQ(request_.external_data.at(0).bytes.text(), "w");
}

TEST_F(Cli, ExternalDataOutsideTheModelsFolderIsRefused) {
  Write("../secret", "s");
  fs::create_symlink(folder_.parent_path() / "secret", folder_ / "link");
  for (const char* location : {"../secret", "/etc/passwd", "link", "absent"}) {
    external_ = {{.name = location, .path = location}};
    const int code = location == std::string("absent") ? 2 : 3;
    EXPECT_EQ(Optimize({"--data", "random:0", "--quiet"}), code) << location;
    EXPECT_NE(err_.str().find(location), std::string::npos) << err_.str();
  }
}

TEST_F(Cli, AFolderOfSamplesIsReadInTheOrderOfItsNumbers) {
  Write("d/test_data_set_10/input_0.pb", "ten");
  Write("d/test_data_set_2/input_1.pb", "b");
  Write("d/test_data_set_2/input_0.pb", "a");
  Write("d/test_data_set_2/output_0.pb", "no");
  ASSERT_EQ(Optimize({"--data", Path("d"), "--quiet"}), 0) << err_.str();
  std::vector<std::string> names;
  for (const auto& sample : request_.samples) names.push_back(sample.name);
  EXPECT_EQ(names, (std::vector<std::string>{"2/input_0.pb", "2/input_1.pb", "10/input_0.pb"}));
}

TEST(ExternalFiles, OfATextGraphAreItsPayloadsOnceEach) {
  const std::string digest(64, 'a');
  const std::string text = "const w = data(sha256:" + digest +
                           ", 4) : f32\nconst v = data(sha256:" + digest +
                           ", 4) : f32  # sha256:short\n";
  const auto files = PayloadFiles({.name = "g.graph", .bytes = Blob(text)});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, digest);
  EXPECT_EQ(files[0].path, "g.graph.data/" + digest);
}

TEST_F(Cli, SnapshotsGoIntoTheirFolder) {
  ASSERT_EQ(Optimize({"--data", "random:0", "--snapshots", Path("snap"), "--quiet"}), 0);
  EXPECT_EQ(ReadText(Path("snap/00-import.graph")), "graph");
}

TEST_F(Cli, LocalAndRemoteWriteTheSameBytes) {
  server::Loopback service;
  Write("m.onnx", std::string(3'300'000, 'z') + "end");
  ASSERT_EQ(Optimize({"--data", Path("s.npz"), "--report", Path("r.json"), "--quiet"}), 0);
  const std::string model = ReadText(Path("out.onnx"));
  const std::string report = ReadText(Path("r.json"));
  fs::remove(Path("out.onnx"));
  for (const bool by_variable : {false, true}) {
    std::vector<std::string> args = {"--data", Path("s.npz"), "--report", Path("r2.json"),
                                     "--quiet"};
    if (by_variable) {
      environment_["OCTAVO_SERVER"] = service.grpc->address();
    } else {
      args.insert(args.end(), {"--server", service.grpc->address()});
    }
    ASSERT_EQ(Optimize(args), 0) << err_.str();
    EXPECT_TRUE(ReadText(Path("out.onnx")) == model);
    EXPECT_EQ(ReadText(Path("r2.json")), report);
  }
  EXPECT_EQ(service.runner.started(), 2);
}

TEST_F(Cli, HealthIs0WhenServingAnd6WithoutAnAnswer) {
  server::Loopback service;
  EXPECT_EQ(Run({"health", "--server", service.grpc->address()}), 0);
  EXPECT_EQ(Run({"health", "--server", "127.0.0.1:1", "--timeout", "2"}), 6);
  EXPECT_EQ(Run({"health"}), 2);
  environment_["OCTAVO_SERVER"] = service.grpc->address();
  EXPECT_EQ(Run({"health", "--json"}), 0);
  EXPECT_EQ(out_.str(), "{\"status\":\"SERVING\"}\n");
}

TEST_F(Cli, JobsNeedAServiceThatKeepsThem) {
  server::Loopback service;
  EXPECT_EQ(Run({"jobs"}), 2);
  EXPECT_EQ(Run({"jobs", "--server", service.grpc->address()}), 4);
}

TEST_F(Cli, VersionAndHelpGoToStdout) {
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_.str(), "octavo 0.1.0\n");
  EXPECT_EQ(Run({"optimize", "--help"}), 0);
  EXPECT_NE(out_.str().find("--numerics-limit"), std::string::npos);
}

}  // namespace
}  // namespace octavo::cli
