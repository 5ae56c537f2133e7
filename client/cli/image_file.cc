// SPDX-License-Identifier: Apache-2.0
#include "client/cli/image_file.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/inputs.h"
#include "core/data/image_spec.h"

namespace octavo::cli {
namespace {

// "KEY=VALUE" each, VALUE with commas between the elements of a list.
using Keys = std::vector<std::string>;

Failure Wrong(const std::string& path, std::string_view why) {
  return Fail(Code::kUsage, "--image: '{}' {}", path, why).Field("--image");
}

std::string KeyOf(const std::string& name, const std::vector<std::string>& values) {
  return fmt::format("{}={}", name, fmt::join(values, ","));
}

Result<Keys> ReadToml(const std::string& path, const std::string& text) {
  std::istringstream file(text);
  Keys keys;
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(file)) {
      if (item.name == "++" || item.name == "--") continue;  // begin and end of a table
      if (!item.parents.empty() && item.parents != std::vector<std::string>{"image"}) continue;
      keys.push_back(KeyOf(item.name, item.inputs));
    }
  } catch (const CLI::Error& error) {
    return Wrong(path, fmt::format("is not TOML: {}", error.what()));
  }
  return keys;
}

// The keys of a map; those of its map `image` too, if `nested`.
Status AddKeys(const std::string& path, const YAML::Node& map, bool nested, Keys& keys) {
  for (const auto& entry : map) {
    const auto name = entry.first.as<std::string>();
    const YAML::Node& value = entry.second;
    if (value.IsMap()) {
      if (nested && name == "image") OCTAVO_CHECK(AddKeys(path, value, /*nested=*/false, keys));
      continue;
    }
    std::vector<std::string> values;
    if (value.IsScalar()) values.push_back(value.as<std::string>());
    for (size_t i = 0; value.IsSequence() && i < value.size(); ++i) {
      if (!value[i].IsScalar()) {
        return Wrong(path, fmt::format("has a list of lists or maps as '{}'", name));
      }
      values.push_back(value[i].as<std::string>());
    }
    keys.push_back(KeyOf(name, values));
  }
  return {};
}

Result<Keys> ReadYaml(const std::string& path, const std::string& text) {
  Keys keys;
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsMap()) OCTAVO_CHECK(AddKeys(path, root, /*nested=*/true, keys));
  } catch (const YAML::Exception& error) {
    return Wrong(path, fmt::format("is not YAML: {}", error.what()));
  }
  return keys;
}

}  // namespace

Status ReadImageFile(Options& options) {
  const std::string path = options.image;
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  if (!yaml && !path.ends_with(".toml")) return {};
  OCTAVO_TRY(const job::NamedBlob read, ReadNamed(path));
  const std::string text(read.bytes.text());
  OCTAVO_TRY(const Keys keys, yaml ? ReadYaml(path, text) : ReadToml(path, text));
  if (keys.empty()) {
    return Wrong(path, yaml ? "has no keys such as size: 224" : "has no keys such as size = 224");
  }
  options.image = fmt::format("{}", fmt::join(keys, ","));
  auto spec = data::ParseImageSpec(options.image);
  if (spec) return {};
  spec.error().message += fmt::format(" (in '{}')", path);
  return Forward(std::move(spec).error());
}

}  // namespace octavo::cli
