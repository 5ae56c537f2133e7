// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/model_proto.h"

namespace octavo::onnx {

Result<ModelProto> ParseModel(const Blob& bytes) {
  OCTAVO_TRY(Skeleton skeleton, ScanModel(bytes));
  ModelProto parsed;
  if (!parsed.model.ParseFromString(skeleton.bytes)) {
    return Fail(Code::kInvalidArgument, "not a valid ONNX model").Reason("MALFORMED");
  }
  if (!parsed.model.has_graph()) {
    return Fail(Code::kInvalidArgument, "not a valid ONNX model: it has no graph")
        .Reason(bytes.empty() ? "TRUNCATED" : "MALFORMED");
  }
  parsed.views = std::move(skeleton.views);
  return parsed;
}

}  // namespace octavo::onnx
