// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/external_data.h"

#include <set>

#include "core/onnx/wire/model_proto.h"

namespace octavo::onnx {
namespace {

Failure Refuse(std::string_view location, std::string_view why) {
  return Fail(Code::kInvalidArgument, "external data location '{}' {}", location, why)
      .Field("location")
      .Reason("EXTERNAL_DATA");
}

Status Collect(const onnx_wire::Tensor& tensor, std::set<std::string>& locations) {
  if (tensor.data_location() != onnx_wire::Tensor::EXTERNAL) return {};
  for (const onnx_wire::StringEntry& entry : tensor.external_data()) {
    if (entry.key() != "location") continue;
    OCTAVO_CHECK(CheckLocation(entry.value()));
    locations.insert(entry.value());
  }
  return {};
}

}  // namespace

Status CheckLocation(std::string_view location) {
  if (location.empty()) return Refuse(location, "is empty");
  if (location.front() == '/') return Refuse(location, "must be relative to the model");
  for (const char c : location) {
    if (c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20) {
      return Refuse(location, "has a character that no location may have");
    }
  }
  for (size_t at = 0; at <= location.size();) {
    const size_t end = std::min(location.find('/', at), location.size());
    const std::string_view part = location.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") {
      return Refuse(location, "must stay within the model's folder");
    }
    at = end + 1;
  }
  return {};
}

Result<std::vector<std::string>> ListExternalData(const Blob& model) {
  OCTAVO_TRY(const ModelProto parsed, ParseModel(model));
  std::set<std::string> locations;
  for (const onnx_wire::Tensor& tensor : parsed.model.graph().initializer()) {
    OCTAVO_CHECK(Collect(tensor, locations));
  }
  for (const onnx_wire::Node& node : parsed.model.graph().node()) {
    for (const onnx_wire::Attribute& attribute : node.attribute()) {
      if (attribute.has_t()) OCTAVO_CHECK(Collect(attribute.t(), locations));
    }
  }
  return std::vector<std::string>(locations.begin(), locations.end());
}

}  // namespace octavo::onnx
