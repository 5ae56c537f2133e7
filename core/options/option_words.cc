// SPDX-License-Identifier: Apache-2.0
#include "core/options/option_words.h"

namespace octavo {

template <>
std::vector<OptionWord<EmitForm>> WordsOf() {
  return {{EmitForm::kQdq, {"qdq", "ONNX with QuantizeLinear and DequantizeLinear"}},
          {EmitForm::kQlinear, {"qlinear", "ONNX with QLinearConv and QLinearMatMul, else qdq"}},
          {EmitForm::kNative, {"native", "octavo.v1.Graph, with integer types"}},
          {EmitForm::kText, {"text", "the graph as text"}}};
}

template <>
std::vector<OptionWord<WeightScales>> WordsOf() {
  return {{WeightScales::kPerChannel, {"per-channel", "one weight scale per output channel"}},
          {WeightScales::kPerTensor, {"per-tensor", "one weight scale per tensor"}}};
}

template <>
std::vector<OptionWord<Rounding>> WordsOf() {
  return {{Rounding::kNearest, {"nearest", "each weight to its nearest integer"}},
          {Rounding::kBias, {"bias", "and biases are corrected by the mean error"}},
          {Rounding::kDescent,
           {"descent", "weights so that the layer's results are closest, biases corrected"}}};
}

template <>
std::vector<OptionWord<Equalize>> WordsOf() {
  return {{Equalize::kAuto, {"auto", "off, unless --search finds on to be better"}},
          {Equalize::kOff, {"off", "leave channels as they are"}},
          {Equalize::kOn, {"on", "scale them where samples or the profile give their ranges"}}};
}

template <>
std::vector<OptionWord<OutputType>> WordsOf() {
  return {{OutputType::kFloat,
           {"float-outputs", "graph outputs of integer operators are not rounded to integers"}},
          {OutputType::kInteger,
           {"no-float-outputs", "graph outputs are dequantized from the activations' type"}}};
}

template <>
std::vector<OptionWord<NumericsLimit>> WordsOf() {
  return {{NumericsLimit::kExact, {"exact", "no result may change"}},
          {NumericsLimit::kFewerRoundings,
           {"fewer-roundings", "an intermediate rounding may disappear"}},
          {NumericsLimit::kFewerClamps,
           {"fewer-clamps", "an intermediate clamp to a quantized range may disappear as well"}},
          {NumericsLimit::kNewParameters,
           {"new-parameters", "quantization parameters may change as well"}}};
}

template <>
std::vector<OptionWord<target::SchemeKind>> WordsOf() {
  using target::Name;
  using target::SchemeKind;
  return {
      {SchemeKind::kAsymmetric, {Name(SchemeKind::kAsymmetric), "any zero point"}},
      {SchemeKind::kSymmetric, {Name(SchemeKind::kSymmetric), "zero point 0"}},
      {SchemeKind::kSymmetricUint8,
       {Name(SchemeKind::kSymmetricUint8), "zero point 0, unsigned where no value is negative"}},
      {SchemeKind::kPow2, {Name(SchemeKind::kPow2), "symmetric, and scales are powers of two"}}};
}

template <>
std::vector<OptionWord<const numerics::Mode*>> WordsOf() {
  std::vector<OptionWord<const numerics::Mode*>> words;
  for (const numerics::Mode* mode : numerics::AllModes()) words.push_back({mode, {mode->name, ""}});
  return words;
}

template <>
std::vector<OptionWord<ir::DType>> WordsOf() {
  std::vector<OptionWord<ir::DType>> words;
  for (const ir::DType dtype : {ir::DType::kU8, ir::DType::kI8, ir::DType::kI16, ir::DType::kI4}) {
    words.push_back({dtype, {ir::Name(dtype), ""}});
  }
  return words;
}

}  // namespace octavo
