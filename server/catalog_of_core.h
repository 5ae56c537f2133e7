// SPDX-License-Identifier: Apache-2.0
// The tables of the core that octavod was built with.
#pragma once

#include "server/service/catalog.h"

namespace octavo::server {

Catalog CatalogOfCore();

}  // namespace octavo::server
