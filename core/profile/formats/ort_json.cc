// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's calibration JSON.  `calibration.json` maps a tensor to its TensorData (in older
// versions to [min, max]); a saved TensorsData holds such a map as "data".
#include <nlohmann/json.hpp>

#include "core/profile/formats/formats.h"

namespace octavo::profile {
namespace {

using nlohmann::json;

bool IsPair(const json& value) { return value.is_array() && value.size() == 2; }

// Whether ONNX Runtime's encoder marked the object with this class.
bool IsClass(const json& value, const char* name) {
  if (!value.is_object()) return false;
  const auto at = value.find("CLS");
  return at != value.end() && *at == name;
}

// Reads a number: plain, an array of one number, or an encoded numpy array of one number.
std::optional<float> NumberOf(const json& value) {
  const json* inner = &value;
  if (inner->is_object()) {
    const auto data = inner->find("data");
    if (data == inner->end()) return std::nullopt;
    inner = &*data;
  }
  while (inner->is_array() && inner->size() == 1) inner = &inner->front();
  if (!inner->is_number()) return std::nullopt;
  return static_cast<float>(inner->get<double>());
}

Status ReadTensor(const std::string& name, const json& value, Profile& profile) {
  const auto wrong = [&](std::string_view what) {
    return Fail(Code::kInvalidArgument, "profile: '{}': {}", name, what)
        .Field(name)
        .Reason("INVALID_PROFILE");
  };
  std::optional<float> low, high;
  if (IsPair(value)) {
    low = NumberOf(value[0]);
    high = NumberOf(value[1]);
  } else if (value.is_object()) {
    const auto lowest = value.find("lowest");
    const auto highest = value.find("highest");
    if (lowest == value.end() || highest == value.end()) {
      return wrong("must have lowest and highest");
    }
    low = NumberOf(*lowest);
    high = NumberOf(*highest);
  } else {
    return wrong("must be TensorData or [min, max]");
  }
  if (!low || !high) return wrong("lowest and highest must be one number each");
  return AddRange("calibration", name, *low, *high, profile);
}

}  // namespace

bool LooksLikeOnnxRuntime(const json& object) {
  if (IsClass(object, "TensorsData")) return true;
  if (object.empty() || object.contains("octavo_profile")) return false;
  const json& first = object.front();
  return IsClass(first, "TensorData") || (IsPair(first) && NumberOf(first[0]).has_value());
}

Result<Profile> ReadOnnxRuntime(const json& object) {
  const json* tensors = &object;
  if (IsClass(object, "TensorsData")) {
    const auto data = object.find("data");
    if (data == object.end() || !data->is_object()) {
      return Fail(Code::kInvalidArgument, "profile: 'data' must be an object")
          .Field("data")
          .Reason("INVALID_PROFILE");
    }
    tensors = &*data;
  }
  Profile profile;
  for (const auto& [name, value] : tensors->items()) {
    OCTAVO_CHECK(ReadTensor(name, value, profile));
  }
  return profile;
}

}  // namespace octavo::profile
