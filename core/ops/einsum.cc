// SPDX-License-Identifier: Apache-2.0
// Einsum(x..) {equation}: letters name the operands' axes; multiplies elements and sums over the
// letters that the result lacks.  "..." stands for any number of axes, broadcast over all operands.
#include <cctype>
#include <map>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"equation", ir::AttrKind::kString, true}};

// One label per axis of each operand and of the result.  Axes of "..." have negative labels; the
// last one has -1.
struct Equation {
  std::vector<std::vector<int>> terms;
  std::vector<int> result;
  std::map<int, int64_t> extents;
};

// Parses the labels of one term; returns "" or an error message.
std::string ReadTerm(std::string_view text, int64_t rank, std::vector<int>& labels) {
  labels.clear();
  const int64_t letters = std::ranges::count_if(text, [](char c) { return c != '.'; });
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      if (!std::isalpha(static_cast<unsigned char>(text[i])))
        return "has a character that is not a letter";
      labels.push_back(text[i]);
      continue;
    }
    if (text.substr(i, 3) != "...") return "has a dot outside of '...'";
    i += 2;
    for (int64_t d = rank - letters; d > 0; --d) labels.push_back(static_cast<int>(-d));
  }
  if (static_cast<int64_t>(labels.size()) != rank) return "does not fit the operands' ranks";
  return {};
}

// Without "->", the result has the letters that occur once, in alphabetical order.
std::string ImplicitResult(const Equation& equation) {
  std::map<int, int> counts;
  bool ellipsis = false;
  for (const std::vector<int>& term : equation.terms) {
    for (const int label : term) {
      if (label > 0) ++counts[label];
      ellipsis |= label < 0;
    }
  }
  std::string result = ellipsis ? "..." : "";
  for (const auto& [label, count] : counts) {
    if (count == 1) result += static_cast<char>(label);
  }
  return result;
}

std::string Parse(std::string text, std::span<const ir::Shape> shapes, Equation& equation) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  int64_t dots = 0;
  for (const ir::Shape& shape : shapes) {
    const size_t comma = std::min(left.find(','), left.size());
    std::vector<int> labels;
    const auto rank = static_cast<int64_t>(shape.size());
    if (std::string wrong = ReadTerm(left.substr(0, comma), rank, labels); !wrong.empty()) {
      return wrong;
    }
    for (size_t d = 0; d < labels.size(); ++d) {
      int64_t& extent = equation.extents.try_emplace(labels[d], 1).first->second;
      if (extent != 1 && shape[d] != 1 && extent != shape[d])
        return "uses one letter for different extents";
      if (extent == 1) extent = shape[d];
      dots = std::max<int64_t>(dots, -labels[d]);
    }
    equation.terms.push_back(std::move(labels));
    left = comma == left.size() ? std::string_view() : left.substr(comma + 1);
  }
  if (!left.empty()) return "has more terms than operands";
  const std::string right =
      arrow == std::string::npos ? ImplicitResult(equation) : text.substr(arrow + 2);
  const int64_t letters = std::ranges::count_if(right, [](char c) { return c != '.'; });
  const bool ellipsis = right.find('.') != std::string::npos;
  if (std::string wrong = ReadTerm(right, letters + (ellipsis ? dots : 0), equation.result);
      !wrong.empty()) {
    return wrong;
  }
  for (const int label : equation.result) {
    if (!equation.extents.count(label)) return "has a letter that only the result uses";
  }
  return {};
}

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferNumericUnary(context));
  std::vector<ir::Shape> shapes;
  for (size_t i = 0; i < context.input_count(); ++i) {
    shapes.push_back(context.shape(i));
    if (context.dtype(i) != context.dtype(0)) {
      return context.Invalid("operands are {} and {}, but must have one type",
                             Name(context.dtype(0)), Name(context.dtype(i)));
    }
  }
  const std::string text = context.node().attributes.String("equation", "");
  Equation equation;
  if (const std::string wrong = Parse(text, shapes, equation); !wrong.empty()) {
    return context.Invalid("equation '{}' {}", text, wrong).Field("equation");
  }
  ir::Shape shape;
  for (const int label : equation.result) shape.push_back(equation.extents.at(label));
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

// Each operand's strides along the loop's labels; the labels of the result come first.
struct Loop {
  ir::Shape extents;
  std::vector<ir::Shape> strides;
};

Loop LoopOf(const ir::EvalContext& context, const Equation& equation) {
  std::vector<int> labels = equation.result;
  for (const auto& [label, extent] : equation.extents) {
    if (std::ranges::count(labels, label) == 0) labels.push_back(label);
  }
  Loop loop;
  for (const int label : labels) loop.extents.push_back(equation.extents.at(label));
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    const ir::Shape& shape = context.in(i).shape();
    const ir::Shape dense = ir::StridesOf(shape);
    ir::Shape strides(labels.size(), 0);
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto at = std::ranges::find(labels, equation.terms[i][d]) - labels.begin();
      if (shape[d] != 1) strides[at] += dense[d];
    }
    loop.strides.push_back(std::move(strides));
  }
  return loop;
}

template <class T>
void Run(const ir::EvalContext& context, const Loop& loop) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  std::vector<const T*> operands;
  for (size_t i = 0; i < loop.strides.size(); ++i) {
    operands.push_back(context.in(i).values<T>().data());
  }
  const auto to = context.out().mutable_values<T>();
  const int64_t total = ir::NumElements(loop.extents);
  const int64_t inner = to.empty() ? 0 : total / static_cast<int64_t>(to.size());
  context.pool->For(static_cast<int64_t>(to.size()), 64, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      Sum sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        Sum product = 1;
        for (size_t i = 0; i < operands.size(); ++i) {
          int64_t rest = o * inner + k, offset = 0;
          for (size_t d = loop.extents.size(); d-- > 0;) {
            offset += rest % loop.extents[d] * loop.strides[i][d];
            rest /= loop.extents[d];
          }
          product *= static_cast<Sum>(operands[i][offset]);
        }
        sum += product;
      }
      to[o] = static_cast<T>(sum);
    }
  });
}

Status Definition(const ir::EvalContext& context) {
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor* input : context.inputs) shapes.push_back(input->shape());
  Equation equation;
  const std::string text = context.node.attributes.String("equation", "");
  if (const std::string wrong = Parse(text, shapes, equation); !wrong.empty()) {
    return BadData(context, "equation '{}' {}", text, wrong);
  }
  const Loop loop = LoopOf(context, equation);
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) Run<T>(context, loop);
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kEinsum{
    .name = "Einsum",
    .since = ir::Since(12),
    .inputs = {1, ir::kManyInputs},
    .attributes = kAttributes,
    .quant = {.why = "no integer form of its products is defined"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
