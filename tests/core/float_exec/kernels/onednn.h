// SPDX-License-Identifier: Apache-2.0
// oneDNN's float convolution and product: an oracle within a tolerance, and the baseline for speed.
// The layout is NCHW or oneDNN's preferred one.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>

#include "core/float_exec/kernels/conv.h"

namespace octavo::float_exec::test {

class OnednnConv {
 public:
  using Tag = dnnl::memory::format_tag;

  // Copies x and w to the layout that the primitive prefers; y stays in that layout.
  OnednnConv(const ConvShape& s, const float* x, const float* w, const float* bias)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const dnnl::memory::dims source{s.batch, s.in_channels, s.in_height, s.in_width};
    const dnnl::memory::dims target{s.batch, s.out_channels, ConvOutHeight(s), ConvOutWidth(s)};
    dnnl::memory::dims weights{s.out_channels, s.in_channels, s.kernel_height, s.kernel_width};
    Tag weights_tag = Tag::oihw;
    if (s.groups > 1) {
      weights = {s.groups, s.out_channels / s.groups, s.in_channels / s.groups, s.kernel_height,
                 s.kernel_width};
      weights_tag = Tag::goihw;
    }
    const auto any = [](const dnnl::memory::dims& dims) {
      return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, Tag::any);
    };
    const dnnl::memory::desc bias_desc({s.out_channels}, dnnl::memory::data_type::f32, Tag::x);
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(source),
        any(weights), bias_desc, any(target), {s.stride_height, s.stride_width},
        {s.dilation_height - 1, s.dilation_width - 1}, {s.pad_top, s.pad_left},
        {s.pad_bottom, s.pad_right});
    const dnnl::convolution_forward::primitive_desc primitive(desc, engine_);
    primitive_ = dnnl::convolution_forward(primitive);
    y_ = dnnl::memory(primitive.dst_desc(), engine_);
    plain_y_ = dnnl::memory({target, dnnl::memory::data_type::f32, Tag::nchw}, engine_);
    const dnnl::memory bias_memory(bias_desc, engine_, const_cast<float*>(bias));
    arguments_ = {{DNNL_ARG_SRC, Liked(source, Tag::nchw, x, primitive.src_desc())},
                  {DNNL_ARG_WEIGHTS, Liked(weights, weights_tag, w, primitive.weights_desc())},
                  {DNNL_ARG_BIAS, bias_memory},
                  {DNNL_ARG_DST, y_}};
  }

  void Run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

  // The last result as NCHW; valid while this object lives.
  const float* Result() {
    dnnl::reorder(y_, plain_y_).execute(stream_, y_, plain_y_);
    stream_.wait();
    return static_cast<const float*>(plain_y_.get_data_handle());
  }

 private:
  dnnl::memory Liked(const dnnl::memory::dims& dims, Tag tag, const float* data,
                     const dnnl::memory::desc& liked) {
    dnnl::memory plain({dims, dnnl::memory::data_type::f32, tag}, engine_,
                       const_cast<float*>(data));
    dnnl::memory memory(liked, engine_);
    dnnl::reorder(plain, memory).execute(stream_, plain, memory);
    stream_.wait();
    return memory;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward primitive_;
  dnnl::memory y_, plain_y_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

// A transposed convolution with one group; w is [in_channels, out_channels, height, width].
class OnednnConvTranspose {
 public:
  OnednnConvTranspose(const ConvShape& s, const float* x, const float* w, const float* bias)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using Tag = dnnl::memory::format_tag;
    const auto any = [](const dnnl::memory::dims& dims) {
      return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, Tag::any);
    };
    const dnnl::memory::dims source{s.batch, s.in_channels, s.in_height, s.in_width};
    const dnnl::memory::dims weights{s.out_channels, s.in_channels, s.kernel_height,
                                     s.kernel_width};
    const dnnl::memory::dims target{s.batch, s.out_channels, ConvTransposeOutHeight(s),
                                    ConvTransposeOutWidth(s)};
    const dnnl::memory::desc bias_desc({s.out_channels}, dnnl::memory::data_type::f32, Tag::x);
    const dnnl::deconvolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any(source),
        any(weights), bias_desc, any(target), {s.stride_height, s.stride_width},
        {s.pad_top, s.pad_left}, {s.pad_bottom, s.pad_right});
    const dnnl::deconvolution_forward::primitive_desc primitive(desc, engine_);
    primitive_ = dnnl::deconvolution_forward(primitive);
    const auto liked = [&](const dnnl::memory::dims& dims, Tag tag, const float* data,
                           const dnnl::memory::desc& wanted) {
      dnnl::memory plain({dims, dnnl::memory::data_type::f32, tag}, engine_,
                         const_cast<float*>(data));
      dnnl::memory memory(wanted, engine_);
      dnnl::reorder(plain, memory).execute(stream_, plain, memory);
      stream_.wait();
      return memory;
    };
    arguments_ = {{DNNL_ARG_SRC, liked(source, Tag::nchw, x, primitive.src_desc())},
                  {DNNL_ARG_WEIGHTS, liked(weights, Tag::iohw, w, primitive.weights_desc())},
                  {DNNL_ARG_BIAS, {bias_desc, engine_, const_cast<float*>(bias)}},
                  {DNNL_ARG_DST, {primitive.dst_desc(), engine_}}};
  }

  void Run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::deconvolution_forward primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

// Row-major C = A * B.
inline void OnednnMatMul(int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                         float* c) {
  dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
}

}  // namespace octavo::float_exec::test
