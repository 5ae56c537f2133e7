// SPDX-License-Identifier: Apache-2.0
#include "core/native/dtype_words.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace octavo::native {
namespace {

constexpr std::string_view kPrefix = "DATA_TYPE_";

std::string InCase(std::string_view word, int (*change)(int)) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [&](unsigned char c) { return static_cast<char>(change(c)); });
  return text;
}

}  // namespace

v1::DataType ToWire(ir::DType dtype) {
  v1::DataType wire = v1::DATA_TYPE_UNSPECIFIED;
  v1::DataType_Parse(std::string(kPrefix) + InCase(ir::Name(dtype), &std::toupper), &wire);
  return wire;
}

std::optional<ir::DType> FromWire(v1::DataType dtype) {
  const std::string& name = v1::DataType_Name(dtype);
  if (name.size() <= kPrefix.size()) return std::nullopt;
  return ir::ParseDType(InCase(std::string_view(name).substr(kPrefix.size()), &std::tolower));
}

}  // namespace octavo::native
