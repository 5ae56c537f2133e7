// SPDX-License-Identifier: Apache-2.0
#include "server/config/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/blob.h"
#include "core/base/nearest_name.h"
#include "server/config/arguments.h"
#include "server/config/memory.h"
#include "server/config/setting.h"

namespace octavo::server {
namespace {

using Values = std::map<std::string, std::string>;  // by name of the setting

std::string Replaced(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

// "; did you mean 'max_nodes'?" for a key of the file.
std::string NearSetting(const std::string& key) {
  std::vector<std::string> keys;
  for (const Setting& setting : Settings()) {
    keys.push_back(Replaced(std::string(setting.name), '-', '_'));
  }
  return DidYouMean(key, keys);
}

Result<Values> ReadFile(const std::string& path) {
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  const auto json = nlohmann::json::parse(bytes.text(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Fail(Code::kUsage, "'{}' is not a JSON object", path).Field("--config");
  }
  Values values;
  for (const auto& [key, value] : json.items()) {
    const std::string name = Replaced(key, '_', '-');
    if (FindSetting(name) == nullptr) {
      return Fail(Code::kUsage, "'{}': unknown key '{}'{}", path, key, NearSetting(key)).Field(key);
    }
    if (!value.is_string() && !value.is_number()) {
      return Fail(Code::kUsage, "'{}': '{}' must be a string or a number", path, key).Field(key);
    }
    values[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return values;
}

Status Apply(Config& config, const Setting& setting, const std::string& text,
             const std::string& source, const std::string& as) {
  if (auto ok = setting.set(config, text); !ok) {
    return Fail(Code::kUsage, "{}: {}", as, ok.error().message).Field(as);
  }
  config.sources[std::string(setting.name)] = source;
  return {};
}

// Sets one worker per two cores and divides all cores among the workers' threads.
void SetDefaultThreads(Limits& limits) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  limits.workers = std::max(1, cores / 2);
  limits.job_threads = std::max(1, cores / limits.workers);
}

// Fills in what follows from the memory and from other limits.
void SetMemory(Config& config) {
  Limits& limits = config.limits;
  const uint64_t usable = UsableMemory();
  if (config.sources["max-bytes-reserved"] == "default" && usable > 0) {
    limits.bytes_reserved = usable / 2;
  }
  limits.model_bytes = std::min(limits.model_bytes, LargestModel(limits.bytes_reserved));
}

}  // namespace

Result<Config> LoadConfig(const std::vector<std::string>& args, const GetEnv& environment) {
  OCTAVO_TRY(Arguments flags, ParseArguments(args));
  Config config{.print_config = flags.print_config, .help = flags.help, .version = flags.version};
  SetDefaultThreads(config.limits);
  if (flags.file.empty()) flags.file = environment("OCTAVO_CONFIG").value_or("");
  Values from_file;
  if (!flags.file.empty()) {
    OCTAVO_TRY(from_file, ReadFile(flags.file));
  }
  for (const Setting& setting : Settings()) {
    const std::string name(setting.name);
    const std::string variable = VariableOf(name);
    const auto from_environment = environment(variable);
    if (flags.values.contains(name)) {
      OCTAVO_CHECK(Apply(config, setting, flags.values[name], "flag", "--" + name));
    } else if (from_environment) {
      OCTAVO_CHECK(Apply(config, setting, *from_environment, "environment", variable));
    } else if (from_file.contains(name)) {
      OCTAVO_CHECK(Apply(config, setting, from_file[name], "file", Replaced(name, '-', '_')));
    } else {
      config.sources[name] = "default";
    }
  }
  SetMemory(config);
  return config;
}

std::string PrintConfig(const Config& config) {
  std::string text;
  for (const Setting& setting : Settings()) {
    text += fmt::format("{:<20} {:<24} {}\n", setting.name, setting.get(config),
                        config.sources.at(std::string(setting.name)));
  }
  return text;
}

std::string ConfigHelp() {
  Config defaults;
  SetDefaultThreads(defaults.limits);
  return HelpOf(defaults);
}

}  // namespace octavo::server
