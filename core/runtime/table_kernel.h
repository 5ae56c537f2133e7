// The functions of one operand that kernels make tables of.
#pragma once

#include <array>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Each result element is a function of the element at the same place of input 0; further inputs
// are parameters.
inline constexpr std::string_view kTabledOps[] = {
    "Clip",     "Relu",    "Rescale", "Abs",         "Asinh",     "Atan",
    "Ceil",     "Celu",    "Cos",     "Cosh",        "Elu",       "Erf",
    "Exp",      "Floor",   "Gelu",    "HardSigmoid", "HardSwish", "LeakyRelu",
    "Log",      "Mish",    "Neg",     "Reciprocal",  "Round",     "Selu",
    "Shrink",   "Sigmoid", "Sign",    "Sin",         "Sinh",      "Softplus",
    "Softsign", "Sqrt",    "Swish",   "Tan",         "Tanh",      "ThresholdedRelu"};
// Those that every mode with tables tabulates; the first three have integer forms of their own.
inline constexpr std::span<const std::string_view> kCurves =
    std::span<const std::string_view>(kTabledOps).subspan(3);

// Whether the operand and the result are plain 8-bit codes and all else is a constant.
bool IsTabled(const NodeView& view);
// table[byte] for all bytes that a code of the operand is stored as.
Result<std::array<uint8_t, 256>> TableOf(const NodeView& view, ThreadPool& pool);
// The op's float results at these reals.
Result<ir::Tensor> ValuesAt(const NodeView& view, const ir::Tensor& reals, ThreadPool& pool);

}  // namespace octavo::runtime
