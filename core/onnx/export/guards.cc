// SPDX-License-Identifier: Apache-2.0
// The part of GraphWriter that writes the remedies for quirks of a runtime.
#include <algorithm>

#include "core/onnx/export/graph_writer.h"
#include "core/onnx/versions/version_table.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {

using target::QuirkRemedy;
using Named = ModelWriter::Named;

std::string GraphWriter::Guarded(ir::NodeId id, const std::string& source) {
  const bool may_be_nan = quirks_.NeedsBeforeQuantize(id, QuirkRemedy::kReplaceNan);
  const bool unfused = quirks_.NeedsBeforeQuantize(id, QuirkRemedy::kUnfuse);
  if (!may_be_nan && !unfused) return source;
  std::string guarded = names_.Unique(source + std::string(kGuardSuffix));
  const std::string node = names_.UniqueNode(guarded);
  TypeReal(graph_.node(id).result(), guarded);
  if (!may_be_nan) {
    writer_.Node(node, "Max", "", {source}, {guarded}, {});
    return guarded;
  }
  // Where is no part of what runtimes fuse, so that it serves for both.
  const std::string is_nan = names_.Unique(source + std::string(kIsNanSuffix));
  writer_.Typed(is_nan, {ir::DType::kBool, graph_.type(graph_.node(id).result()).shape, {}, {}});
  writer_.Node(names_.UniqueNode(is_nan), "IsNaN", "", {source}, {is_nan}, {});
  if (zero_.empty()) {
    zero_ = names_.Unique("zero");
    writer_.Initializer(zero_, ir::Tensor::Scalar(0.0f), Named::kInternal);
  }
  writer_.Node(node, "Where", "", {is_nan, zero_, source}, {guarded}, {});
  return guarded;
}

std::string GraphWriter::BiasForRuntime(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  for (const target::Quirk* quirk : quirks_.At(id)) {
    if (quirk->instead != QuirkRemedy::kBiasPerChannel) continue;
    const std::optional<ChannelBias> bias = BiasPerChannel(graph_, node);
    if (!bias) return {};
    std::string name = names_.Unique(graph_.name(node.input(2)) + ".channels");
    const std::string integers = names_.Unique(name + ".q"),
                      scales = names_.Unique(name + ".scale");
    writer_.Initializer(integers, bias->integers, Named::kInternal);
    writer_.Initializer(scales, bias->scales, Named::kInternal);
    writer_.Typed(name, {ir::DType::kF32, bias->scales.shape(), {}, {}});
    writer_.Node(names_.UniqueNode(name + ".dequantize"), "DequantizeLinear", "",
                 {integers, scales}, {name}, {{"axis", int64_t{0}}});
    return name;
  }
  return {};
}

bool GraphWriter::SumsInDouble(ir::NodeId id) const {
  return std::ranges::any_of(quirks_.At(id), [](const target::Quirk* quirk) {
    return quirk->instead == QuirkRemedy::kSumInDouble;
  });
}

std::string GraphWriter::WriteCast(const std::string& from, const std::string& to, ir::Type type) {
  writer_.Node(names_.UniqueNode(to), "Cast", "", {from}, {to},
               {{"to", int64_t{WireOf(type.dtype)}}});
  writer_.Typed(to, std::move(type));
  return to;
}

ir::AttrMap GraphWriter::AttributesForRuntime(ir::NodeId id) const {
  const ir::Node& node = graph_.node(id);
  ir::AttrMap attributes = node.attributes;
  for (const target::Quirk* quirk : quirks_.At(id)) {
    if (quirk->instead != QuirkRemedy::kExplicitPads) continue;
    attributes.Set("pads", ir::Attribute(*ExplicitPads(graph_, node)));
    attributes.Erase("ceil_mode");
    attributes.Erase("auto_pad");
  }
  return attributes;
}

}  // namespace octavo::onnx
