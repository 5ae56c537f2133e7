// How ScatterElements and ScatterND join what they write with what is there.
#pragma once

#include "core/ops/elementwise.h"

namespace octavo::ops {

// none, add, mul, max or min; `join(held, update)` in the element type.  False for another word.
template <class T, class F>
bool VisitReduction(const std::string& word, F&& f) {
  if (word == "none") return f([](T, T update) { return update; }), true;
  if constexpr (!std::is_same_v<T, bool>) {
    using U = Modular<T>;
    const auto add = [](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); };
    const auto mul = [](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); };
    if (word == "add") return f(add), true;
    if (word == "mul") return f(mul), true;
    if (word == "max") return f([](T a, T b) { return std::max(a, b); }), true;
    if (word == "min") return f([](T a, T b) { return std::min(a, b); }), true;
  }
  return false;
}

inline Status CheckReduction(const ir::InferContext& context) {
  const std::string word = context.node().attributes.String("reduction", "none");
  bool known = word == "none";
  VisitDType(context.dtype(0), [&]<class T>(T) { known |= VisitReduction<T>(word, [](auto) {}); });
  if (known || VisitReduction<float>(word, [](auto) {})) return {};
  return context.Invalid("reduction '{}' is unknown", word).Field("reduction");
}

// Moving codes is exact; adding them is not what adding reals is.
inline ir::QuantRule ScatterQuant(const ir::Graph&, const ir::Node& node) {
  if (node.attributes.String("reduction", "none") != "none") {
    return {.why = "it joins updates in reals"};
  }
  return {.kind = ir::QuantRule::Kind::kSameAsInput, .why = {}};
}

inline constexpr ir::AttrSpec kScatterAttributes[] = {{"axis", ir::AttrKind::kInt},
                                                      {"reduction", ir::AttrKind::kString}};

}  // namespace octavo::ops
