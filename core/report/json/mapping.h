// SPDX-License-Identifier: Apache-2.0
// The exceptions to the rule for the JSON form of octavo.v1.Report.  The rule: every field has a
// key, and an unset field is null.  mapping.cc holds the table of exceptions.
#pragma once

#include <google/protobuf/descriptor.h>

namespace octavo::report {

// How to print a field that is unset, zero or empty.
enum class WhenEmpty {
  kValue,    // the rule: null for a field with presence, else zero, "", [] or {}
  kNull,     // null
  kOmitted,  // the object lacks the key
};

WhenEmpty WhenEmptyOf(const google::protobuf::FieldDescriptor& field);

// The repeated field that is printed as a list under the key of the scalar `field`; null if there
// is none.
const google::protobuf::FieldDescriptor* ListOf(const google::protobuf::FieldDescriptor& field);

// Whether the field is such a list; it has no key of its own.
bool IsListOfScalar(const google::protobuf::FieldDescriptor& field);

}  // namespace octavo::report
