// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/transpose_window.h"

namespace octavo::ops {
namespace {

Failure Wrong(const ir::Node& node, std::string_view attribute, std::string message) {
  return Fail(Code::kInvalidArgument, "{} '{}': {} {}", node.op->name, node.name, attribute,
              message)
      .Node(node.name)
      .Field(attribute);
}

Result<std::vector<int64_t>> ListOf(const ir::Node& node, std::string_view name, size_t count,
                                    int64_t fallback) {
  std::vector<int64_t> list = node.attributes.Ints(name);
  if (list.empty()) list.assign(count, fallback);
  if (list.size() != count) {
    return Wrong(node, name, fmt::format("has {} elements, but must have {}", list.size(), count));
  }
  for (const int64_t element : list) {
    if (element < fallback || element > INT32_MAX) {
      return Wrong(
          node, name,
          fmt::format("holds {}, but must be from {} to {}", element, fallback, INT32_MAX));
    }
  }
  return list;
}

}  // namespace

Result<TransposeWindow> TransposeWindowOf(const ir::Node& node, const ir::Shape& data,
                                          const ir::Shape& weight) {
  const size_t axes = data.size() - 2;
  TransposeWindow window;
  window.in.assign(data.begin() + 2, data.end());
  window.kernel.assign(weight.begin() + 2, weight.end());
  if (node.attributes.Has("kernel_shape") &&
      node.attributes.Ints("kernel_shape") != window.kernel) {
    return Wrong(node, "kernel_shape", "differs from the weight's shape");
  }
  OCTAVO_TRY(window.strides, ListOf(node, "strides", axes, 1));
  OCTAVO_TRY(window.dilations, ListOf(node, "dilations", axes, 1));
  OCTAVO_TRY(const std::vector<int64_t> pads, ListOf(node, "pads", 2 * axes, 0));
  OCTAVO_TRY(const std::vector<int64_t> extra, ListOf(node, "output_padding", axes, 0));
  OCTAVO_TRY(const std::vector<int64_t> wanted, ListOf(node, "output_shape", axes, 0));
  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID") {
    return Wrong(node, "auto_pad", fmt::format("'{}' is unknown", auto_pad));
  }
  window.pads_begin.resize(axes);
  for (size_t d = 0; d < axes; ++d) {
    const int64_t full = window.strides[d] * (window.in[d] - 1) + extra[d] +
                         (window.kernel[d] - 1) * window.dilations[d] + 1;
    if (wanted[d] > 0 || same) {
      const int64_t out = wanted[d] > 0 ? wanted[d] : window.in[d] * window.strides[d];
      const int64_t total = std::max<int64_t>(0, full - out);
      // ONNX pads the odd element at the end for SAME_UPPER and at the beginning otherwise.
      window.pads_begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.out.push_back(out);
      continue;
    }
    window.pads_begin[d] = auto_pad == "VALID" ? 0 : pads[d];
    const int64_t pad_end = auto_pad == "VALID" ? 0 : pads[axes + d];
    const int64_t out = full - window.pads_begin[d] - pad_end;
    if (out < 1) return Wrong(node, "pads", "leave no output");
    window.out.push_back(out);
  }
  return window;
}

}  // namespace octavo::ops
