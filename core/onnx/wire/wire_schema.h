// SPDX-License-Identifier: Apache-2.0
// The fields that the wire scanner knows: one row per field of onnx.proto.
#pragma once

#include <algorithm>
#include <iterator>

namespace octavo::onnx {

enum class Message {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kValueInfo,
  kType,
  kTensorType,
  kShape,
  kDimension,
  kStringEntry,
  kOperatorSet,
  kAnnotation,
};

// The encoding of a field.  Repeated numbers may be packed or separate.
enum class FieldKind {
  kVarint,
  kFixed32,
  kBytes,
  kMessage,
  kVarints,
  kFixed32s,
  kFixed64s,
  kPresence,  // only the presence of these bytes matters; their content is dropped
};

struct FieldRow {
  Message in = {};
  int number = 0;
  FieldKind kind = {};
  bool repeated = false;
  bool payload = false;  // becomes a view
  Message child = {};
};

inline constexpr FieldRow kFields[] = {
    {.in = Message::kModel, .number = 1, .kind = FieldKind::kVarint},
    {.in = Message::kModel, .number = 2, .kind = FieldKind::kBytes},
    {.in = Message::kModel, .number = 3, .kind = FieldKind::kBytes},
    {.in = Message::kModel, .number = 4, .kind = FieldKind::kBytes},
    {.in = Message::kModel, .number = 5, .kind = FieldKind::kVarint},
    {.in = Message::kModel, .number = 6, .kind = FieldKind::kBytes},
    {.in = Message::kModel, .number = 7, .kind = FieldKind::kMessage, .child = Message::kGraph},
    {.in = Message::kModel,
     .number = 8,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kOperatorSet},
    {.in = Message::kModel,
     .number = 14,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},

    {.in = Message::kGraph,
     .number = 1,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kNode},
    {.in = Message::kGraph, .number = 2, .kind = FieldKind::kBytes},
    {.in = Message::kGraph,
     .number = 5,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kTensor},
    {.in = Message::kGraph, .number = 10, .kind = FieldKind::kBytes},
    {.in = Message::kGraph,
     .number = 11,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kValueInfo},
    {.in = Message::kGraph,
     .number = 12,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kValueInfo},
    {.in = Message::kGraph,
     .number = 13,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kValueInfo},
    {.in = Message::kGraph,
     .number = 14,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kAnnotation},
    {.in = Message::kGraph, .number = 15, .kind = FieldKind::kPresence, .repeated = true},
    {.in = Message::kGraph,
     .number = 16,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},

    {.in = Message::kNode, .number = 1, .kind = FieldKind::kBytes, .repeated = true},
    {.in = Message::kNode, .number = 2, .kind = FieldKind::kBytes, .repeated = true},
    {.in = Message::kNode, .number = 3, .kind = FieldKind::kBytes},
    {.in = Message::kNode, .number = 4, .kind = FieldKind::kBytes},
    {.in = Message::kNode,
     .number = 5,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kAttribute},
    {.in = Message::kNode, .number = 6, .kind = FieldKind::kBytes},
    {.in = Message::kNode, .number = 7, .kind = FieldKind::kBytes},
    {.in = Message::kNode,
     .number = 9,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},

    {.in = Message::kAttribute, .number = 1, .kind = FieldKind::kBytes},
    {.in = Message::kAttribute, .number = 2, .kind = FieldKind::kFixed32},
    {.in = Message::kAttribute, .number = 3, .kind = FieldKind::kVarint},
    {.in = Message::kAttribute, .number = 4, .kind = FieldKind::kBytes},
    {.in = Message::kAttribute,
     .number = 5,
     .kind = FieldKind::kMessage,
     .child = Message::kTensor},
    {.in = Message::kAttribute, .number = 6, .kind = FieldKind::kPresence},
    {.in = Message::kAttribute, .number = 7, .kind = FieldKind::kFixed32s, .repeated = true},
    {.in = Message::kAttribute, .number = 8, .kind = FieldKind::kVarints, .repeated = true},
    {.in = Message::kAttribute, .number = 9, .kind = FieldKind::kBytes, .repeated = true},
    {.in = Message::kAttribute, .number = 13, .kind = FieldKind::kBytes},
    {.in = Message::kAttribute, .number = 20, .kind = FieldKind::kVarint},
    {.in = Message::kAttribute, .number = 21, .kind = FieldKind::kBytes},

    {.in = Message::kTensor, .number = 1, .kind = FieldKind::kVarints, .repeated = true},
    {.in = Message::kTensor, .number = 2, .kind = FieldKind::kVarint},
    {.in = Message::kTensor,
     .number = 4,
     .kind = FieldKind::kFixed32s,
     .repeated = true,
     .payload = true},
    {.in = Message::kTensor,
     .number = 5,
     .kind = FieldKind::kVarints,
     .repeated = true,
     .payload = true},
    {.in = Message::kTensor,
     .number = 7,
     .kind = FieldKind::kVarints,
     .repeated = true,
     .payload = true},
    {.in = Message::kTensor, .number = 8, .kind = FieldKind::kBytes},
    {.in = Message::kTensor, .number = 9, .kind = FieldKind::kBytes, .payload = true},
    {.in = Message::kTensor,
     .number = 10,
     .kind = FieldKind::kFixed64s,
     .repeated = true,
     .payload = true},
    {.in = Message::kTensor,
     .number = 11,
     .kind = FieldKind::kVarints,
     .repeated = true,
     .payload = true},
    {.in = Message::kTensor, .number = 12, .kind = FieldKind::kBytes},
    {.in = Message::kTensor,
     .number = 13,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},
    {.in = Message::kTensor, .number = 14, .kind = FieldKind::kVarint},
    {.in = Message::kTensor,
     .number = 16,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},

    {.in = Message::kValueInfo, .number = 1, .kind = FieldKind::kBytes},
    {.in = Message::kValueInfo, .number = 2, .kind = FieldKind::kMessage, .child = Message::kType},
    {.in = Message::kValueInfo, .number = 3, .kind = FieldKind::kBytes},
    {.in = Message::kValueInfo,
     .number = 4,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},

    {.in = Message::kType, .number = 1, .kind = FieldKind::kMessage, .child = Message::kTensorType},
    {.in = Message::kType, .number = 4, .kind = FieldKind::kPresence},
    {.in = Message::kType, .number = 5, .kind = FieldKind::kPresence},
    {.in = Message::kType, .number = 6, .kind = FieldKind::kBytes},
    {.in = Message::kType, .number = 8, .kind = FieldKind::kPresence},
    {.in = Message::kType, .number = 9, .kind = FieldKind::kPresence},

    {.in = Message::kTensorType, .number = 1, .kind = FieldKind::kVarint},
    {.in = Message::kTensorType,
     .number = 2,
     .kind = FieldKind::kMessage,
     .child = Message::kShape},
    {.in = Message::kShape,
     .number = 1,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kDimension},
    {.in = Message::kDimension, .number = 1, .kind = FieldKind::kVarint},
    {.in = Message::kDimension, .number = 2, .kind = FieldKind::kBytes},
    {.in = Message::kDimension, .number = 3, .kind = FieldKind::kBytes},

    {.in = Message::kStringEntry, .number = 1, .kind = FieldKind::kBytes},
    {.in = Message::kStringEntry, .number = 2, .kind = FieldKind::kBytes},
    {.in = Message::kOperatorSet, .number = 1, .kind = FieldKind::kBytes},
    {.in = Message::kOperatorSet, .number = 2, .kind = FieldKind::kVarint},
    {.in = Message::kAnnotation, .number = 1, .kind = FieldKind::kBytes},
    {.in = Message::kAnnotation,
     .number = 2,
     .kind = FieldKind::kMessage,
     .repeated = true,
     .child = Message::kStringEntry},
};

// Null for a field that the scanner drops.
inline const FieldRow* FindField(Message in, int number) {
  const auto* at = std::find_if(std::begin(kFields), std::end(kFields), [&](const FieldRow& row) {
    return row.in == in && row.number == number;
  });
  return at == std::end(kFields) ? nullptr : at;
}

}  // namespace octavo::onnx
