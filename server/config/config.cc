// SPDX-License-Identifier: Apache-2.0
#include "server/config/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/blob.h"
#include "server/config/memory.h"
#include "server/config/setting.h"

namespace octavo::server {
namespace {

using Values = std::map<std::string, std::string>;  // by name of the setting

const Setting* Find(std::string_view name) {
  for (const Setting& setting : Settings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string Replaced(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

std::string VariableOf(std::string_view name) {
  std::string variable = "OCTAVO_" + Replaced(std::string(name), '-', '_');
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return variable;
}

// The arguments of the command line, unchecked.
struct Flags {
  Values values = {};
  std::string file = {};
  bool print_config = false;
  bool help = false;
  bool version = false;
};

Result<Flags> ReadFlags(const std::vector<std::string>& args) {
  Flags flags;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (!arg.starts_with("--")) {
      return Fail(Code::kUsage, "'{}' is not an option; options begin with --", arg).Field(arg);
    }
    const size_t equals = arg.find('=');
    const std::string name = arg.substr(2, equals == arg.npos ? arg.npos : equals - 2);
    if (name == "print-config") {
      flags.print_config = true;
      continue;
    }
    if (name == "help") {
      flags.help = true;
      continue;
    }
    if (name == "version") {
      flags.version = true;
      continue;
    }
    if (name != "config" && Find(name) == nullptr) {
      return Fail(Code::kUsage, "unknown option --{}; see --help", name).Field("--" + name);
    }
    if (equals == arg.npos && i + 1 == args.size()) {
      return Fail(Code::kUsage, "--{} needs a value", name).Field("--" + name);
    }
    const std::string value = equals == arg.npos ? args[++i] : arg.substr(equals + 1);
    (name == "config" ? flags.file : flags.values[name]) = value;
  }
  return flags;
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
    if (Find(name) == nullptr) {
      return Fail(Code::kUsage, "'{}': unknown key '{}'", path, key).Field(key);
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
  OCTAVO_TRY(Flags flags, ReadFlags(args));
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
  std::string text =
      "octavod: quantizes ONNX models to int8, as a gRPC service\n\n"
      "Every option can also be set in the environment (--max-nodes as OCTAVO_MAX_NODES) and in\n"
      "the --config file (\"max_nodes\").  The command line overrides the environment, which\n"
      "overrides the file.\n\n";
  Config defaults;
  SetDefaultThreads(defaults.limits);
  for (const Setting& setting : Settings()) {
    const std::string value =
        setting.otherwise.empty() ? setting.get(defaults) : std::string(setting.otherwise);
    text += fmt::format("  {:<32} {} (default: {})\n",
                        fmt::format("--{} {}", setting.name, setting.value), setting.help,
                        value.empty() ? "none" : value);
  }
  text +=
      "  --config FILE                    read settings from a JSON object\n"
      "  --print-config                   print every setting with its source, and exit\n"
      "  --version                        print the version, and exit\n"
      "  --help                           print this text, and exit\n";
  return text;
}

}  // namespace octavo::server
