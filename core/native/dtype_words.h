// SPDX-License-Identifier: Apache-2.0
// Element types on the wire: DATA_TYPE_ and the type's word in capitals.
#pragma once

#include <optional>

#include "core/ir/dtype.h"
#include "octavo/v1/graph.pb.h"

namespace octavo::native {

v1::DataType ToWire(ir::DType dtype);
std::optional<ir::DType> FromWire(v1::DataType dtype);

}  // namespace octavo::native
