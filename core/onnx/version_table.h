// Where operators changed their form between opset 1 and 24.  The graph has the newest form;
// import applies the rows that lie after the model's version in rising order, export those after
// the version to be written in falling order.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/onnx/draft.h"

namespace octavo::onnx {

inline constexpr int64_t kOldestOpset = 1;
// Opsets before 7 are read, not written: their broadcasting cannot say what later ones can.
inline constexpr int64_t kOldestWritten = 7;
inline constexpr int64_t kNewestOpset = 24;
inline constexpr int64_t kNewestIrVersion = 12;

// How a model says that Octavo wrote it, and which of its float biases wait to be quantized.
inline constexpr std::string_view kProducer = "octavo";
// ONNX wants a name for every graph; this one stands for none.
inline constexpr std::string_view kNoName = "unnamed";
inline const std::string kPendingKey = "octavo.pending";

struct VersionRow {
  std::string_view op = {};   // its name below `before`
  int64_t before = 0;         // the version that brought the new form
  std::string_view now = {};  // its name from then on; empty: the same
  // From the old form to the new one.  Null: the old form is a new one as it stands.
  Status (*raise)(const ir::Graph& graph, Conversion& conversion) = nullptr;
  // From the new form to the old one; false where the old form cannot say it.  Null: never can.
  bool (*lower)(const ir::Graph& graph, Draft& draft) = nullptr;
};

std::span<const VersionRow> AllVersions();

// The version that brought an operator, 1 for those that were there before all others here.
int64_t FirstVersion(std::string_view op);

// Brings a draft from `opset` to the newest form.
Status RaiseToNewest(const ir::Graph& graph, int64_t opset, Conversion& conversion);
// Brings a draft from the newest form to that of `opset`, an operator that the version lacks to
// several that say the same.  Where that cannot be, returns the least version that might do; 0 when
// it is done.
int64_t LowerTo(const ir::Graph& graph, int64_t opset, Conversion& conversion);

// The lowest IR version that serves an opset.
int64_t IrVersionOf(int64_t opset);

}  // namespace octavo::onnx
