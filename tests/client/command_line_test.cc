// SPDX-License-Identifier: Apache-2.0
// What the command line understands: one value a flag, lists of names, misspelt words, a file of
// flags, the options of an earlier job, and its help.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/help.h"
#include "client/cli/help_table.h"
#include "client/cli/program.h"
#include "core/options/option_table.h"
#include "tests/server/service/loopback.h"
#include "tests/support/temporary_folder.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class CommandLine : public testing::Test {
 protected:
  void SetUp() override { Write("m.onnx", "model"); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return Path(name);
  }

  int Run(const Names& args) {
    out_.str("");
    err_.str("");
    Host host{.out = out_,
              .err = err_,
              .err_is_terminal = terminal_,
              .environment = [this](const std::string& name) -> std::optional<std::string> {
                const auto it = environment_.find(name);
                if (it == environment_.end()) return std::nullopt;
                return it->second;
              },
              .version = "0.1.0",
              .run_job =
                  [this](const job::Request& request, const StopToken& stop,
                         const job::Observer& observer) {
                    request_ = request;
                    return runner_.AsRunner()(request, stop, observer);
                  },
              .list_external = [](const job::NamedBlob&) { return std::vector<ExternalFile>{}; }};
    return RunProgram(args, host);
  }
  // Runs `octavo optimize -o out.onnx --data random:0 ARGS m.onnx`: the model comes last.
  int Optimize(const Names& args) {
    Names all = {"optimize", "-o", Path("out.onnx"), "--data", "random:0"};
    all.insert(all.end(), args.begin(), args.end());
    all.push_back(Path("m.onnx"));
    return Run(all);
  }
  // The text of an error, without the program's name and the line's end.
  std::string Error() const {
    const std::string text = err_.str(), label = "octavo: error: ";
    return text.substr(label.size(), text.size() - label.size() - 1);
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::ostringstream out_, err_;
  bool terminal_ = false;
  std::map<std::string, std::string> environment_;
  server::FakeRunner runner_;
  job::Request request_;
};

TEST_F(CommandLine, AFlagTakesOneValueAndLeavesTheModel) {
  ASSERT_EQ(Optimize({"--keep-float", "Softmax"}), 0) << err_.str();
  EXPECT_EQ(request_.model.name, "m.onnx");
  EXPECT_EQ(request_.options.keep_float, Names{"Softmax"});
}

TEST_F(CommandLine, EveryFlagOfAJobTakesOneValueAndLeavesTheModel) {
  const std::map<std::string_view, std::string> values = {
      {"target", "cpu-int8"}, {"calibration", "mse"},   {"keep_float", "a,b"},
      {"weights_only", "a"},  {"stop_before", "lower"}, {"skip", "lower"},
      {"passes", "lower"},    {"holdout", "3"},         {"block", "32"},
      {"int16", "a"},         {"shape", "x=1,3,8,8"},   {"image", "crop=center,mean=0.5,std=0.5"}};
  for (const OptionRow& row : OptionTable()) {
    const bool takes_value = row.flag == OptionFlag::kByName && row.type != OptionType::kFlag;
    if (!takes_value) continue;
    const auto at = values.find(row.name);
    std::string value = at == values.end() ? "1" : at->second;
    if (row.choices != nullptr) value = row.choices().front().name;
    EXPECT_EQ(Optimize({row.FlagName(), value, "--allow-random"}), 0)
        << row.FlagName() << err_.str();
    EXPECT_EQ(request_.model.name, "m.onnx") << row.FlagName();
  }
  for (const char* flag : {"--report", "--snapshots"}) {
    EXPECT_EQ(Optimize({flag, Path("written")}), 0) << flag << err_.str();
    fs::remove_all(Path("written"));
  }
}

TEST_F(CommandLine, AFlagWithoutOrWithTwoValuesIsNamed) {
  EXPECT_EQ(Optimize({"--batch", "2", "--batch", "3"}), 2);
  EXPECT_EQ(Error(), "--batch is given more than once, and takes one value");
  EXPECT_EQ(Run({"optimize", Path("m.onnx"), "-o"}), 2);
  EXPECT_EQ(Error(), "--output needs a value: OUT");
  EXPECT_EQ(Optimize({"--image", "crop=center,", "mean=0.5"}), 2);
  EXPECT_TRUE(Error().starts_with("unexpected argument '")) << err_.str();
}

TEST_F(CommandLine, AWrongNumberIsToldWhatItMustBe) {
  const auto fails = [&](const Names& args) {
    EXPECT_EQ(Optimize(args), 2) << args[0];
    return Error();
  };
  EXPECT_EQ(fails({"--timeout", "0"}), "--timeout: '0' must be a number above 0");
  EXPECT_EQ(fails({"--retry-for", "abc"}), "--retry-for: 'abc' must be a number from 0 to 86400");
  EXPECT_EQ(fails({"--priority", "11"}), "--priority: '11' must be a whole number from -10 to 10");
  EXPECT_EQ(fails({"--max-nodes", "1.5"}), "--max-nodes: '1.5' must be a whole number, at least 0");
  EXPECT_EQ(Run({"jobs", "--state", "runing", "--server", "a:1"}), 2);
  EXPECT_EQ(Error(),
            "--state: 'runing' must be one of queued, running, succeeded, failed, cancelled; did "
            "you mean 'running'?");
  EXPECT_EQ(Run({"bench", Path("m.onnx"), "--runs", "0"}), 2);
  EXPECT_EQ(Error(), "--runs: '0' must be a whole number, at least 1");
}

TEST_F(CommandLine, ListsOfNamesTakeCommasAndAddUp) {
  ASSERT_EQ(
      Optimize({"--keep-float", "/a/*,Conv", "--keep-float", "b\\,c", "--skip", "lower,recognize"}),
      0)
      << err_.str();
  EXPECT_EQ(request_.options.keep_float, (Names{"/a/*", "Conv", "b,c"}));
  EXPECT_EQ(request_.options.skip, (Names{"lower", "recognize"}));
  EXPECT_EQ(Optimize({"--keep-float", "a,,b"}), 2);
  EXPECT_EQ(Error(), "--keep-float 'a,,b' must be names with ',' between them");
}

TEST_F(CommandLine, TwoValuesAfterAFlagAreRefusedWithTheWayToSayIt) {
  EXPECT_EQ(Optimize({"--keep-float", "Softmax", "head"}), 2);
  EXPECT_EQ(Error(), "unexpected argument '" + Path("m.onnx") +
                         "' of octavo optimize; a flag takes one value: give it again, or put "
                         "commas between names");
}

TEST_F(CommandLine, KeepFloatFromReadsNamesFromAFile) {
  const std::string names = Write("names.txt", "# the head\n\n /head/Conv \r\nSoft,max#1\n");
  ASSERT_EQ(Optimize({"--keep-float", "Conv", "--keep-float-from", names}), 0) << err_.str();
  EXPECT_EQ(request_.options.keep_float, (Names{"Conv", "/head/Conv", "Soft,max#1"}));
  EXPECT_EQ(Optimize({"--keep-float-from", Write("none.txt", "# nothing\n")}), 2);
  EXPECT_NE(Error().find("none.txt' has no names"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, AMisspeltCommandOrFlagGetsTheNameThatWasMeant) {
  EXPECT_EQ(Run({"optimise", "m.onnx"}), 2);
  EXPECT_EQ(Error(), "unknown command 'optimise'; did you mean 'optimize'?");
  EXPECT_EQ(Run({"frobnicate"}), 2);
  EXPECT_EQ(Error(), "unknown command 'frobnicate'; see octavo --help");
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Error(), "a command is needed; see octavo --help");
  EXPECT_EQ(Optimize({"--kep-float=Conv"}), 2);
  EXPECT_EQ(Error(), "unknown flag '--kep-float' of octavo optimize; did you mean '--keep-float'?");
  // Also where the flag is required, and before a value.
  EXPECT_EQ(Run({"optimize", Path("m.onnx"), "--ouput", "o.onnx"}), 2);
  EXPECT_EQ(Error(), "unknown flag '--ouput' of octavo optimize; did you mean '--output'?");
  EXPECT_EQ(Run({"--batch", "4", "optimize", Path("m.onnx"), "-o", Path("o.onnx")}), 2);
  EXPECT_EQ(Error(), "'--batch' is a flag of octavo optimize: write it after the command");
  EXPECT_EQ(Optimize({"--xyzzy", "--json"}), 2);
  const auto error = nlohmann::json::parse(err_.str());
  EXPECT_EQ(error["field"], "--xyzzy");
  EXPECT_EQ(error["message"],
            "unknown flag '--xyzzy' of octavo optimize; see octavo optimize --help");
}

TEST_F(CommandLine, AConfigFileGivesFlagsThatTheCommandLineOverrides) {
  const std::string file = Write("c.toml", R"(# flags of any command
batch = 4
[optimize]
keep-float = ["Softmax", "/head/*"]
require_sqnr = 20.5
allow-random = true
shape = "x=1,3,8,8"
per-tensor = true
strict-profile = false
[run]
values = "all"
)");
  ASSERT_EQ(Optimize({"--config", file, "--batch", "2"}), 0) << err_.str();
  EXPECT_EQ(request_.options.keep_float, (Names{"Softmax", "/head/*"}));
  EXPECT_EQ(request_.options.require_sqnr, 20.5);
  EXPECT_EQ(request_.options.shape.at("x"), (std::vector<int64_t>{1, 3, 8, 8}));
  EXPECT_EQ(request_.options.batch, 2);
  EXPECT_EQ(request_.options.granularity, WeightScales::kPerTensor);
  EXPECT_FALSE(request_.options.strict_profile);
  ASSERT_EQ(Optimize({"--config", file, "--keep-float", "Conv", "--per-channel"}), 0) << err_.str();
  EXPECT_EQ(request_.options.keep_float, Names{"Conv"});
  EXPECT_EQ(request_.options.granularity, WeightScales::kPerChannel);
  EXPECT_EQ(request_.options.batch, 4);
}

TEST_F(CommandLine, AConfigFileMayGiveTheModelAndTheOutput) {
  const std::string file = Write("c.toml", "model = \"" + Path("m.onnx") + "\"\noutput = \"" +
                                               Path("o.onnx") + "\"\ndata = \"random:0\"\n");
  ASSERT_EQ(Run({"--config", file, "optimize"}), 0) << err_.str();
  EXPECT_TRUE(fs::exists(Path("o.onnx")));
}

TEST_F(CommandLine, AMistakeInAConfigFileIsNamed) {
  const auto fails = [&](const std::string& text) {
    EXPECT_EQ(Optimize({"--config", Write("c.toml", text)}), 2) << text;
    return Error();
  };
  EXPECT_EQ(fails("kep-float = \"a\"\n"),
            "--config: key 'kep-float' is no flag of octavo optimize; did you mean 'keep-float'?");
  EXPECT_EQ(fails("[optimise]\nbatch = 1\n"),
            "--config: table [optimise] is no command; did you mean 'optimize'?");
  EXPECT_EQ(fails("batch = [1, 2]\n"), "--config: 'batch' takes one value");
  EXPECT_EQ(fails("batch = 0\n"), "--batch '0' must be a whole number, at least 1");
  EXPECT_EQ(Optimize({"--config", Path("nowhere.toml")}), 2);
  EXPECT_EQ(Error(), "--config: cannot read '" + Path("nowhere.toml") + "'");
}

TEST_F(CommandLine, OptionsFromTakesTheOptionsOfAReportAndFlagsOverrideThem) {
  const std::string report =
      Write("r.json", R"({"options": {"batch": 3, "keep_float": ["a"], "skip": ["lower"],
                                "emit": "qlinear", "output_name": "other.onnx"}})");
  ASSERT_EQ(Optimize({"--options-from", report, "--keep-float", "b"}), 0) << err_.str();
  EXPECT_EQ(request_.options.batch, 3);
  EXPECT_EQ(request_.options.keep_float, Names{"b"});
  EXPECT_EQ(request_.options.skip, Names{"lower"});
  EXPECT_EQ(request_.options.emit, EmitForm::kQlinear);
  EXPECT_EQ(request_.options.output_name, "out.onnx");
  EXPECT_EQ(Optimize({"--options-from", Write("x.json", "[]")}), 3);
}

std::vector<std::string> CommandsOf(const std::string& help) {
  std::vector<std::string> commands;
  for (const CommandHelp& row : CommandTable()) {
    if (help.find(fmt::format("\n  {} ", row.command)) != help.npos) {
      commands.emplace_back(row.command);
    }
  }
  return commands;
}

TEST_F(CommandLine, TheHelpHasGroupsDefaultsChoicesVariablesExamplesAndExitCodes) {
  ASSERT_EQ(Run({"--help"}), 0);
  const std::string help = out_.str();
  for (const char* heading : {"\nQuantize:\n", "\nLists:\n", "\nExamples:\n", "\nVariables:\n"}) {
    EXPECT_NE(help.find(heading), help.npos) << heading;
  }
  for (const ExitCode& row : ExitCodes()) {
    EXPECT_NE(help.find(fmt::format("\n  {}  {}\n", row.code, row.meaning)), help.npos) << row.code;
  }
  ASSERT_EQ(Run({"optimize", "--help"}), 0);
  const std::string flags = out_.str();
  for (const char* text :
       {"\nInputs:\n", "\nOutputs:\n", "\nQuantization:\n", "\nChecks:\n", "\nService:\n",
        "\nLimits:\n", "\nGeneral:\n", "(default: minmax)", "--emit qdq|qlinear|native|text",
        "OCTAVO_SERVER", "\nExamples:\n", "\nExit codes: 0 done; 1 ", "--config FILE.toml"}) {
    EXPECT_NE(flags.find(text), flags.npos) << text;
  }
}

TEST_F(CommandLine, EveryCommandHasAHeadingAndExamples) {
  ASSERT_EQ(Run({"--help"}), 0);
  const auto listed = CommandsOf(out_.str());
  EXPECT_GE(listed.size(), 17u);
  for (const std::string& command : listed) {
    ASSERT_EQ(Run({command, "--help"}), 0);
    EXPECT_NE(out_.str().find("\nExamples:\n  octavo "), std::string::npos) << command;
  }
  for (const AddCommand add : Commands()) {
    CLI::App program;
    Host host{.out = out_, .err = err_, .environment = [](const std::string&) {
                return std::optional<std::string>();
              }};
    Invocation invocation{.host = host};
    add(program, invocation);
    for (const CLI::App* command : program.get_subcommands({})) {
      EXPECT_NE(std::find(listed.begin(), listed.end(), command->get_name()), listed.end())
          << command->get_name() << " has no row in help_table.cc";
    }
  }
}

TEST_F(CommandLine, TheHelpFitsTheScreen) {
  for (const char* width : {"60", "80", "120"}) {
    environment_["COLUMNS"] = width;
    for (const char* command : {"optimize", "run", "jobs"}) {
      ASSERT_EQ(Run({command, "--help"}), 0);
      std::istringstream lines(out_.str());
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  octavo ") || line.starts_with("  -")) continue;  // not broken
        EXPECT_LE(line.size(), std::stoul(width)) << line;
      }
    }
  }
}

TEST_F(CommandLine, ErrorsAreColoredOnATerminalUnlessNoColorIsSet) {
  terminal_ = true;
  EXPECT_EQ(Run({"frob"}), 2);
  EXPECT_EQ(err_.str().substr(0, 30), "octavo: \033[1;31merror:\033[0m unkn");
  environment_["NO_COLOR"] = "1";
  EXPECT_EQ(Run({"frob"}), 2);
  EXPECT_TRUE(err_.str().starts_with("octavo: error: unknown"));
  environment_ = {{"TERM", "dumb"}};
  EXPECT_EQ(Run({"frob"}), 2);
  EXPECT_TRUE(err_.str().starts_with("octavo: error: unknown"));
}

TEST_F(CommandLine, ABarIsOfATerminalThatIsNotDumbAndNoColorLeavesIt) {
  terminal_ = true;
  environment_ = {{"COLUMNS", "100"}, {"NO_COLOR", "1"}};
  ASSERT_EQ(Optimize({}), 0);
  EXPECT_NE(err_.str().find("\r\033[K"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find(" [--"), std::string::npos) << err_.str();
  environment_["TERM"] = "dumb";
  ASSERT_EQ(Optimize({}), 0);
  EXPECT_EQ(err_.str().find('\033'), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("octavo: passes\n"), std::string::npos) << err_.str();
  ASSERT_EQ(Optimize({"--verbose"}), 0);
  EXPECT_NE(err_.str().find("octavo: passes quantize\n"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, AServiceThatIsUnreachableIsSaidAtOnceAndAttemptsAreCounted) {
  EXPECT_EQ(Optimize({"--server", "127.0.0.1:1", "--retry-for", "0.7"}), 6);
  EXPECT_TRUE(err_.str().starts_with("octavo: retry in 0.")) << err_.str();
  EXPECT_NE(err_.str().find("s, attempt 2: 127.0.0.1:1 is unreachable: "), std::string::npos)
      << err_.str();
  EXPECT_NE(err_.str().find("s, attempt 3: "), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find(" attempts)\n"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, TheJobsIdAndItsPositionInTheQueueAreShown) {
  server::Loopback service({.workers = 1});
  ASSERT_EQ(Optimize({"--server", service.grpc->address()}), 0) << err_.str();
  EXPECT_NE(err_.str().find("octavo: job "), std::string::npos) << err_.str();
  ASSERT_EQ(Optimize({"--server", service.grpc->address(), "--json"}), 0) << err_.str();
  EXPECT_GE(nlohmann::json::parse(out_.str())["job_id"].get<std::string>().size(), 32u);
}

TEST_F(CommandLine, EveryListAndModelCommandAnswersInJsonAndElseInTables) {
  const std::string graph = Write("f.graph", R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x4xf32>
}
)");
  const std::vector<Names> commands = {
      {"passes"},
      {"ops"},
      {"targets"},
      {"options"},
      {"inspect", graph},
      {"inspect", graph, "--text"},
      {"bench", graph, "--runs", "1"},
      {"profile", graph, "--data", "random:1:2", "-o", Path("p.json")},
      {"merge-profiles", Path("p.json"), Path("p.json"), "-o", Path("all.json")},
      {"run", graph, "--data", "random:1:2", "-o", Path("values")},
      {"diff", graph, graph, "--data", "random:1:2", "--report", Path("d.json")},
  };
  for (Names command : commands) {
    ASSERT_EQ(Run(command), 0) << command[0] << err_.str();
    EXPECT_FALSE(out_.str().starts_with("{")) << command[0];
    command.push_back("--json");
    ASSERT_EQ(Run(command), 0) << command[0] << err_.str();
    EXPECT_EQ(err_.str(), "") << command[0];
    // One object, or one a line.
    if (nlohmann::json::accept(out_.str())) continue;
    std::istringstream lines(out_.str());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(nlohmann::json::accept(line)) << command[0] << ": " << line;
    }
  }
}

TEST_F(CommandLine, InspectPrintsTables) {
  const std::string graph = Write("f.graph", R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  %x.q = Quantize(%x) : tensor<1x4xi8, scale=0.02, zp=1>
  %y = Dequantize(%x.q) : tensor<1x4xf32>
}
)");
  ASSERT_EQ(Run({"inspect", graph}), 0) << err_.str();
  for (const char* text : {"\nInputs:\n  name  type  shape\n  x     f32   1x4\n", "\nOperators:\n",
                           "\nQuantized values:\n", "0.02"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << out_.str();
  }
}

}  // namespace
}  // namespace octavo::cli
