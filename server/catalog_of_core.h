// SPDX-License-Identifier: Apache-2.0
// The names of ops, passes, rules, kernels and targets of the core linked into octavod.
#pragma once

#include "server/service/catalog.h"

namespace octavo::server {

Catalog CatalogOfCore();

}  // namespace octavo::server
