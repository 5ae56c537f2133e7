// SPDX-License-Identifier: Apache-2.0
// Conversions between operator versions: the types of the table's rows, and the rows of each file.
// Each file of conversions starts with its rows; the conversion functions are local to the file.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "core/onnx/versions/version_table.h"

namespace octavo::onnx {

// Converts the old version of an operator to the new one.  May add nodes before it.
using Upgrade = Status(const ir::Graph& graph, Conversion& conversion);
// Converts the new version to the old one; false if the old one cannot express the node.
using Downgrade = bool(const ir::Graph& graph, Draft& draft);
// Replaces an operator that `opset` lacks by several that compute the same result; false if `opset`
// has the operator.
using Decompose = bool(const ir::Graph& graph, int64_t opset, Conversion& conversion);

// A short list of operator names that a constant table can hold.
class OpNames {
 public:
  constexpr OpNames(std::initializer_list<std::string_view> names) : size_(names.size()) {
    size_t i = 0;
    for (const std::string_view name : names) names_[i++] = name;
  }
  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return names_.data() + size_; }

 private:
  std::array<std::string_view, 20> names_ = {};
  size_t size_ = 0;
};

struct VersionRow {
  OpNames ops;                     // the names in opsets below `since`
  int64_t since = 0;               // the opset that introduced the new version
  std::string_view now = {};       // the name from `since` on; empty: unchanged
  Upgrade* upgrade = nullptr;      // null: a node of the old version is valid in the new one
  Downgrade* downgrade = nullptr;  // null: the old version cannot express any node of the new one
};

// `since` of a conversion that applies to models of every opset.
inline constexpr int64_t kEveryOpset = kNewestOpset + 1;

struct DecompositionRow {
  std::string_view op = {};
  Decompose* decompose = nullptr;
};

// The rows of each file, in any order.
std::span<const VersionRow> AttributeConversions();
std::span<const VersionRow> EarlyConversions();
std::span<const VersionRow> ResizeConversions();
std::span<const VersionRow> SemanticConversions();
std::span<const DecompositionRow> Decompositions();

// All version rows in ascending order of `since`.
const std::vector<VersionRow>& AllConversions();

// ------------------------------------------------------------ used by several files

// kUnimplemented: no conversion exists for the model's version of the operator.
Upgrade UnsupportedVersion;
// Converts negative axes to non-negative ones, as opsets before 11 require.
Downgrade PositiveAxes;
// Removes an attribute with its default value; false if it has another value.
bool DropDefault(Draft& draft, std::string_view name, int64_t fallback);

}  // namespace octavo::onnx
