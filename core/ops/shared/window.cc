// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

Failure Wrong(const ir::Node& node, std::string_view attribute, std::string message) {
  return Fail(Code::kInvalidArgument, "{} '{}': {} {}", node.op->name, node.name, attribute,
              message)
      .Node(node.name)
      .Field(attribute);
}

// The attribute's list, by default `count` times `fallback`; every element must be at least
// `least`.
Result<std::vector<int64_t>> ListOf(const ir::Node& node, std::string_view name, size_t count,
                                    int64_t fallback, int64_t least) {
  std::vector<int64_t> list = node.attributes.Ints(name);
  if (list.empty()) list.assign(count, fallback);
  if (list.size() != count) {
    return Wrong(node, name, fmt::format("has {} elements, but must have {}", list.size(), count));
  }
  for (const int64_t element : list) {
    if (element < least || element > INT32_MAX) {
      return Wrong(node, name,
                   fmt::format("holds {}, but must be from {} to {}", element, least, INT32_MAX));
    }
  }
  return list;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Computes the padding of one axis by auto_pad; `extent` is the extent of the dilated kernel.
void AutoPad(Window& window, size_t d, int64_t extent, bool upper) {
  const int64_t out = CeilDiv(window.in[d], window.strides[d]);
  const int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[d] + extent - window.in[d]);
  window.pads_begin[d] = upper ? total / 2 : total - total / 2;
  window.pads_end[d] = total - window.pads_begin[d];
}

}  // namespace

Result<Window> WindowOf(const ir::Node& node, const ir::Shape& data, std::vector<int64_t> kernel) {
  if (data.size() < 3) {
    return Wrong(node, "input",
                 fmt::format("of shape {} must have at least 3 axes", ir::ToString(data)));
  }
  const size_t axes = data.size() - 2;
  Window window;
  window.in.assign(data.begin() + 2, data.end());
  OCTAVO_TRY(window.kernel, ListOf(node, "kernel_shape", axes, 0, 0));
  if (!kernel.empty()) {
    if (node.attributes.Has("kernel_shape") && window.kernel != kernel) {
      return Wrong(node, "kernel_shape", "differs from the weight's shape");
    }
    window.kernel = std::move(kernel);
  }
  for (const int64_t size : window.kernel) {
    if (size < 1) return Wrong(node, "kernel_shape", "must be at least 1");
  }
  OCTAVO_TRY(window.strides, ListOf(node, "strides", axes, 1, 1));
  OCTAVO_TRY(window.dilations, ListOf(node, "dilations", axes, 1, 1));
  OCTAVO_TRY(const std::vector<int64_t> pads, ListOf(node, "pads", 2 * axes, 0, 0));
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(axes));
  window.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(axes), pads.end());

  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  const bool ceil = node.attributes.Int("ceil_mode", 0) != 0;
  for (size_t d = 0; d < axes; ++d) {
    const int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      AutoPad(window, d, extent, auto_pad == "SAME_UPPER");
    } else if (auto_pad == "VALID") {
      window.pads_begin[d] = window.pads_end[d] = 0;
    } else if (auto_pad != "NOTSET") {
      return Wrong(node, "auto_pad", fmt::format("'{}' is unknown", auto_pad));
    }
    const int64_t padded = window.in[d] + window.pads_begin[d] + window.pads_end[d];
    if (padded < extent) {
      return Wrong(node, "kernel_shape",
                   fmt::format("covers {} elements along spatial axis {}, but the padded input has "
                               "{}",
                               extent, d, padded));
    }
    int64_t out = (padded - extent) / window.strides[d] + 1;
    if (ceil) {
      out = CeilDiv(padded - extent, window.strides[d]) + 1;
      // Drops a window that would begin in the padding at the end.
      if ((out - 1) * window.strides[d] >= window.in[d] + window.pads_begin[d]) --out;
    }
    window.out.push_back(out);
  }
  return window;
}

int FirstIfWindowOfOne(const ir::Graph&, const ir::Node& node) {
  const auto all_equal = [&](std::string_view name, const std::vector<int64_t>& fallback,
                             int64_t expected) {
    return std::ranges::count(node.attributes.Ints(name, fallback), expected) ==
           std::ssize(node.attributes.Ints(name, fallback));
  };
  const bool is_one =
      all_equal("kernel_shape", {0}, 1) && all_equal("strides", {}, 1) && all_equal("pads", {}, 0);
  return is_one ? 0 : -1;
}

}  // namespace octavo::ops
