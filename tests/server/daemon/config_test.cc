// SPDX-License-Identifier: Apache-2.0
// Precedence of the sources, and refused settings.
#include "server/config/config.h"

#include <gtest/gtest.h>

#include "core/base/blob.h"
#include "server/config/setting.h"
#include "tests/support/temporary_folder.h"

namespace octavo::server {
namespace {

using Environment = std::map<std::string, std::string>;

Result<Config> Load(const std::vector<std::string>& args, const Environment& environment = {}) {
  return LoadConfig(args, [&](const std::string& name) -> std::optional<std::string> {
    const auto it = environment.find(name);
    if (it == environment.end()) return std::nullopt;
    return it->second;
  });
}

struct ConfigFile {
  explicit ConfigFile(std::string_view text) { EXPECT_TRUE(WriteFile(path, text)); }

  const TemporaryFolder folder;
  const std::string path = (folder.path() / "octavod.json").string();
};

TEST(Config, AFlagWinsOverTheEnvironmentAndThatOverTheFile) {
  const ConfigFile file(
      R"({"workers": 2, "max_model_bytes": "3MiB", "drain_timeout": 1.5, "listen": "0.0.0.0:1"})");
  const auto config =
      Load({"--config", file.path, "--workers=4"},
           {{"OCTAVO_WORKERS", "3"}, {"OCTAVO_MAX_MODEL_BYTES", "1024"}, {"OCTAVO_SERVER", "x"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->limits.workers, 4);
  EXPECT_EQ(config->sources.at("workers"), "flag");
  EXPECT_EQ(config->limits.model_bytes, 1024u);
  EXPECT_EQ(config->sources.at("max-model-bytes"), "environment");
  EXPECT_EQ(config->drain_timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(config->listen, "0.0.0.0:1");
  EXPECT_EQ(config->sources.at("listen"), "file");
  EXPECT_EQ(config->sources.at("metrics"), "default");
}

TEST(Config, ThePrintedFormShowsEachValueAndWhereItCameFrom) {
  const auto config = Load({"--max-samples-bytes", "2GiB", "--print-config"});
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->print_config);
  const std::string text = PrintConfig(*config);
  EXPECT_NE(text.find("max-samples-bytes    2147483648               flag\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("listen               127.0.0.1:50051          default\n"),
            std::string::npos);
}

struct Wrong {
  std::vector<std::string> args;
  Environment environment;
  std::string field;
};

TEST(Config, AMistakeNamesItsFlagVariableOrKey) {
  const ConfigFile misspelt(R"({"wrokers": 2})");
  const ConfigFile list("[1]");
  const Wrong cases[] = {
      {{"--bogus", "1"}, {}, "--bogus"},
      {{"--workers"}, {}, "--workers"},
      {{"--workers", "0"}, {}, "--workers"},
      {{"--workers", "2x"}, {}, "--workers"},
      {{"--listen", "nowhere"}, {}, "--listen"},
      {{"--listen", "127.0.0.1:70000"}, {}, "--listen"},
      {{"--max-message-bytes", "1MiB"}, {}, "--max-message-bytes"},
      {{"--upload-idle-timeout", "0"}, {}, "--upload-idle-timeout"},
      {{"--drain-timeout", "-1"}, {}, "--drain-timeout"},
      {{"--log-level", "loud"}, {}, "--log-level"},
      {{"--isolation", "container"}, {}, "--isolation"},
      {{"--require-sandbox", "0"}, {}, "--require-sandbox"},
      {{"--require-sandbox", "4"}, {}, "--require-sandbox"},
      {{"--job-memory", "1MiB"}, {}, "--job-memory"},
      {{"--job-cpu", "0.5"}, {}, "--job-cpu"},
      {{"stray"}, {}, "stray"},
      {{}, {{"OCTAVO_MAX_NODES", "many"}}, "OCTAVO_MAX_NODES"},
      {{"--config", misspelt.path}, {}, "wrokers"},
      {{"--config", list.path}, {}, "--config"},
      {{"--config", "/nowhere.json"}, {}, "/nowhere.json"},
  };
  for (const Wrong& wrong : cases) {
    const auto config = Load(wrong.args, wrong.environment);
    ASSERT_FALSE(config) << wrong.field;
    EXPECT_EQ(config.error().code, Code::kUsage);
    EXPECT_EQ(config.error().field, wrong.field) << config.error().message;
  }
}

TEST(Config, AMisspeltFlagOrKeyGetsTheNameThatWasMeant) {
  EXPECT_EQ(Load({"--max-node", "1"}).error().message,
            "unknown option --max-node; did you mean '--max-nodes'?");
  EXPECT_EQ(Load({"--frobnicate"}).error().message, "unknown option --frobnicate; see --help");
  const ConfigFile file(R"({"wrokers": 2})");
  const auto wrong = Load({"--config", file.path});
  EXPECT_TRUE(wrong.error().message.ends_with("unknown key 'wrokers'; did you mean 'workers'?"))
      << wrong.error().message;
}

TEST(Config, TheLastOfAFlagCountsAndValuesMayFollowAnEqualsSign) {
  const auto config = Load({"--workers=2", "--workers", "3", "--drain-timeout=0"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->limits.workers, 3);
  EXPECT_EQ(config->drain_timeout.count(), 0);
}

TEST(Config, TheHelpHasEverySettingWithItsDefaultAndVariable) {
  const std::string help = ConfigHelp();
  for (const Setting& setting : Settings()) {
    EXPECT_NE(help.find(fmt::format("\n  --{} {}", setting.name, setting.value)), help.npos)
        << setting.name;
    EXPECT_NE(help.find(VariableOf(setting.name)), help.npos) << setting.name;
  }
  for (const char* text : {"\nAddresses:\n", "\nLimits:\n", "(default: 127.0.0.1:9464;",
                           "\nExamples:\n", "\nExit codes: 0 "}) {
    EXPECT_NE(help.find(text), help.npos) << text;
  }
}

}  // namespace
}  // namespace octavo::server
