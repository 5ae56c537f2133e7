// SPDX-License-Identifier: Apache-2.0
// Windows for spectra, (size) {output_datatype, periodic}: element i is a sum of cosines of
// 2 pi i / n; n is the size for a periodic window, else the size minus one.
#include <numbers>

#include "core/base/math.h"
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kAttributes[] = {{"output_datatype", ir::AttrKind::kInt},
                                        {"periodic", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> size, context.KnownInts(0, "size"));
  if (size.size() != 1 || size[0] < 0) return context.Invalid("size must be one number");
  const auto dtype = DTypeOfNumber(context.node().attributes.Int("output_datatype", 1));
  if (!dtype) return context.Unsupported("its output_datatype is not supported");
  context.SetResult(0, *dtype, {size[0]});
  return {};
}

double Blackman(double angle) {
  return 0.42 - 0.5 * math::Cos(angle) + 0.08 * math::Cos(2 * angle);
}
double Hamming(double angle) { return 25.0 / 46 - 21.0 / 46 * math::Cos(angle); }
double Hann(double angle) { return 0.5 - 0.5 * math::Cos(angle); }

template <double (*at)(double angle)>
Status Fill(const ir::EvalContext& context) {
  const bool periodic = context.node.attributes.Int("periodic", 1) != 0;
  const int64_t size = context.out().size();
  const double n = static_cast<double>(std::max<int64_t>(1, periodic ? size : size - 1));
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    const auto to = context.out().mutable_values<T>();
    for (int64_t i = 0; i < size; ++i) {
      to[i] = static_cast<T>(at(2 * std::numbers::pi * static_cast<double>(i) / n));
    }
  });
  return {};
}

template <double (*at)(double angle)>
constexpr OpDef SpectralWindow(std::string_view name) {
  return {.name = name,
          .since = Since(17),
          .attributes = kAttributes,
          .roles = ir::AllRoles(ir::Role::kParameter),
          .quant = {.why = "it has no real-valued input"},
          .infer = &Infer,
          .definition = &Fill<at>};
}

}  // namespace

extern constexpr OpDef kBlackmanWindow = SpectralWindow<&Blackman>("BlackmanWindow");
extern constexpr OpDef kHammingWindow = SpectralWindow<&Hamming>("HammingWindow");
extern constexpr OpDef kHannWindow = SpectralWindow<&Hann>("HannWindow");

}  // namespace octavo::ops
