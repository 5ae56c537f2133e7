// SPDX-License-Identifier: Apache-2.0
// The tables of a service's database, as a list of migrations.  Times are milliseconds since 1970.
#pragma once

#include <span>

#include "server/store/database.h"

namespace octavo::server {

std::span<const Database::Migration> Migrations();

}  // namespace octavo::server
