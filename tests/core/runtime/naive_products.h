// SPDX-License-Identifier: Apache-2.0
// The integer definitions of convolutions and products as plain loops over every index.
#pragma once

#include <vector>

#include "core/runtime/kernels/shared/requantize.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {

using Ints = std::vector<int64_t>;

inline int32_t RequantizedSum(const NodeView& view, int64_t sum, float multiplier) {
  return Requantize(sum, multiplier, view.out().quant->zero_point(),
                    ir::IntegerRangeOf(view.out().dtype));
}

inline int64_t CenteredAt(const KernelCase& test, size_t input, int64_t i, int64_t channel = 0) {
  return test.tensors[input].IntAt(i) - test.View().in(input).quant->zero_point(channel);
}

// ------------------------------------------------------------ sums of products

struct Geometry {
  int64_t groups = 1, stride = 1, dilation = 1, before = 0, after = 0, extra = 0;

  ir::AttrMap Attributes(size_t axes) const {
    ir::AttrMap attributes{
        {"group", groups}, {"strides", Ints(axes, stride)}, {"dilations", Ints(axes, dilation)}};
    Ints pads(axes, before);
    pads.resize(2 * axes, after);
    attributes.Set("pads", pads);
    if (extra != 0) attributes.Set("output_padding", Ints(axes, extra));
    return attributes;
  }
};

struct Image {
  int64_t channels = 0, depth = 1, height = 1, width = 0;

  int64_t places() const { return depth * height * width; }
  int64_t Depth(int64_t place) const { return place / (height * width); }
  int64_t Row(int64_t place) const { return place / width % height; }
};
inline Image ImageOf(const ir::Shape& shape) {
  return {shape[1], shape.size() > 4 ? shape[2] : 1, shape.size() > 3 ? *(shape.end() - 2) : 1,
          shape.back()};
}

// Whether kernel element k maps input i to output o, along one spatial axis.
inline bool Meets(const Geometry& g, bool transposed, int64_t o, int64_t i, int64_t k) {
  return transposed ? i * g.stride + k * g.dilation - g.before == o
                    : o * g.stride + k * g.dilation - g.before == i;
}

// A sum of products with its bias, and its scale s_x * s_w.
struct ScaledSum {
  int64_t sum = 0;
  float scale = 1;
};

inline std::vector<int32_t> Requantized(const KernelCase& test,
                                        const std::vector<ScaledSum>& sums) {
  const NodeView view = test.View();
  std::vector<int32_t> results;
  for (const auto& [sum, scale] : sums) {
    results.push_back(RequantizedSum(view, sum, scale / view.out().quant->scale()));
  }
  return results;
}

inline std::vector<ScaledSum> NaiveConvSums(const KernelCase& test, const Geometry& g,
                                            bool transposed) {
  const NodeView view = test.View();
  const Image x = ImageOf(view.in(0).shape), y = ImageOf(view.out().shape);
  const Image w = ImageOf(view.in(1).shape);
  const size_t rank = view.in(0).shape.size();
  const Geometry front = rank < 5 ? Geometry{} : g, row = rank < 4 ? Geometry{} : g;
  const int64_t batch = view.in(0).shape[0];
  const int64_t ins = x.channels / g.groups, outs = y.channels / g.groups;
  std::vector<ScaledSum> results;
  for (int64_t at = 0; at < batch * y.channels * y.places(); ++at) {
    const int64_t n = at / (y.channels * y.places()), o = at / y.places() % y.channels;
    const int64_t place = at % y.places();
    const int64_t scale = transposed ? o % outs : o;
    int64_t sum = view.Has(2) ? test.tensors[2].IntAt(o) : 0;
    for (int64_t in = 0; in < ins; ++in) {
      const int64_t plane = n * x.channels + o / outs * ins + in;
      const int64_t kernel = transposed ? (o / outs * ins + in) * outs + o % outs : o * ins + in;
      for (int64_t i = 0; i < x.places(); ++i) {
        for (int64_t k = 0; k < w.places(); ++k) {
          if (!Meets(front, transposed, y.Depth(place), x.Depth(i), w.Depth(k))) continue;
          if (!Meets(row, transposed, y.Row(place), x.Row(i), w.Row(k))) continue;
          if (!Meets(g, transposed, place % y.width, i % x.width, k % w.width)) continue;
          sum += CenteredAt(test, 0, plane * x.places() + i) *
                 CenteredAt(test, 1, kernel * w.places() + k, scale);
        }
      }
    }
    results.push_back({sum, view.in(0).quant->scale() * view.in(1).quant->scale(scale)});
  }
  return results;
}

inline std::vector<int32_t> NaiveConv(const KernelCase& test, const Geometry& g, bool transposed) {
  return Requantized(test, NaiveConvSums(test, g, transposed));
}

// y[m, n] = sum over k; `a` and `b` return the offsets of elements (m, k) and (k, n) of an item.
template <class A, class B>
std::vector<ScaledSum> NaiveProductSums(const KernelCase& test, int64_t m, int64_t n, int64_t k,
                                        A&& a, B&& b) {
  const NodeView view = test.View();
  std::vector<ScaledSum> results;
  for (int64_t i = 0; i < view.out().elements(); ++i) {
    const int64_t row = i / n, column = i % n;
    int64_t sum = view.Has(2) ? test.tensors[2].IntAt(column) : 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += CenteredAt(test, 0, a(row / m, row % m, j)) *
             CenteredAt(test, 1, b(row / m, j, column), column);
    }
    results.push_back({sum, view.in(0).quant->scale() * view.in(1).quant->scale(column)});
  }
  return results;
}

template <class A, class B>
std::vector<int32_t> NaiveProduct(const KernelCase& test, int64_t m, int64_t n, int64_t k, A&& a,
                                  B&& b) {
  return Requantized(test, NaiveProductSums(test, m, n, k, a, b));
}

}  // namespace octavo::runtime
