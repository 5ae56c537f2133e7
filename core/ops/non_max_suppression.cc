// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression(boxes, scores, max_output_boxes_per_class?, iou_threshold?, score_threshold?)
// {center_point_box}: [batch, class, box] for each of the best boxes that do not overlap a better
// one. Their number depends on the inputs' elements, which type inference must know.
#include <algorithm>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"center_point_box", ir::AttrKind::kInt}};

struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  double area() const { return (x1 - x0) * (y1 - y0); }
};

Box BoxAt(const ir::Tensor& boxes, int64_t at, bool by_center) {
  std::array<double, 4> v{};
  for (int64_t i = 0; i < 4; ++i) v[i] = boxes.FloatAt(at * 4 + i);
  if (by_center) {
    return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  }
  // Boxes may have any two opposite corners, as y, x, y, x.
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

double Overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  return width * height / (a.area() + b.area() - width * height);
}

using Tensors = std::span<const ir::Tensor* const>;

double ScalarAt(Tensors inputs, size_t i, double fallback) {
  return i < inputs.size() && inputs[i] && inputs[i]->size() == 1 ? inputs[i]->FloatAt(0)
                                                                  : fallback;
}

// Returns triples, class by class.
std::vector<int64_t> Select(const ir::Node& node, Tensors inputs) {
  const ir::Tensor& boxes = *inputs[0];
  const ir::Tensor& scores = *inputs[1];
  const int64_t count = boxes.shape()[1], classes = scores.shape()[1];
  const auto most = static_cast<size_t>(std::max(0.0, ScalarAt(inputs, 2, 0)));
  const double overlap = ScalarAt(inputs, 3, 0), least = ScalarAt(inputs, 4, 0);
  const bool limited = inputs.size() > 4 && inputs[4] != nullptr;
  const bool by_center = node.attributes.Int("center_point_box", 0) != 0;
  std::vector<int64_t> selected;
  for (int64_t row = 0; row < boxes.shape()[0] * classes; ++row) {
    const int64_t batch = row / classes;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (!limited || scores.FloatAt(row * count + i) > least) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](int64_t i) { return scores.FloatAt(row * count + i); });
    std::vector<Box> kept;
    for (const int64_t i : order) {
      if (kept.size() >= most) break;
      const Box box = BoxAt(boxes, batch * count + i, by_center);
      const auto hides = [&](const Box& better) { return Overlap(better, box) > overlap; };
      if (std::ranges::any_of(kept, hides)) continue;
      kept.push_back(box);
      selected.insert(selected.end(), {batch, row % classes, i});
    }
  }
  return selected;
}

Status Infer(ir::InferContext& context) {
  const ir::Shape& boxes = context.shape(0);
  const ir::Shape& scores = context.shape(1);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return context.Invalid("boxes of shape {} do not fit scores of shape {}", ir::ToString(boxes),
                           ir::ToString(scores));
  }
  std::vector<const ir::Tensor*> known;
  for (size_t i = 0; i < context.input_count(); ++i) {
    known.push_back(context.Has(i) ? context.known(i) : nullptr);
    if (context.Has(i) && known.back() == nullptr) {
      return DependsOnData(context, i, "how many boxes are selected");
    }
  }
  const auto numbers = static_cast<int64_t>(Select(context.node(), known).size());
  context.SetResult(0, ir::DType::kI64, {numbers / 3, 3});
  return {};
}

Status Definition(const ir::EvalContext& context) {
  std::ranges::copy(Select(context.node, context.inputs),
                    context.out().mutable_values<int64_t>().begin());
  return {};
}

}  // namespace

extern constexpr ir::OpDef kNonMaxSuppression{
    .name = "NonMaxSuppression",
    .since = ir::Since(10),
    .inputs = {2, 5},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &Infer,
    .definition = &Definition,
    .depends_on_order = true,
};

}  // namespace octavo::ops
