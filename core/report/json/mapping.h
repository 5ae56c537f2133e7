// SPDX-License-Identifier: Apache-2.0
// Exceptions from the rule for the JSON form of octavo.v1.Report: a key for every field, null for
// an unset one.  The table is in mapping.cc.
#pragma once

#include <google/protobuf/descriptor.h>

namespace octavo::report {

// When a field that is unset, zero or empty has no figure to show.
enum class WhenEmpty {
  kValue,    // the rule: null for what has presence, else zero, "", [] or {}
  kNull,     // null
  kOmitted,  // the object has no such key
};

WhenEmpty WhenEmptyOf(const google::protobuf::FieldDescriptor& field);

// The repeated field that is written as a list under the key of the scalar `field`, or null.
const google::protobuf::FieldDescriptor* ListOf(const google::protobuf::FieldDescriptor& field);

// Whether the field is such a list, which has no key of its own.
bool IsListOfScalar(const google::protobuf::FieldDescriptor& field);

}  // namespace octavo::report
