// SPDX-License-Identifier: Apache-2.0
#include "server/catalog_of_core.h"

#include "core/base/revision.h"
#include "core/base/version.h"
#include "core/job/tables.h"
#include "core/ops/op_table.h"
#include "core/target/target.h"

namespace octavo::server {

Catalog CatalogOfCore() {
  Catalog catalog{.version = std::string(Version()),
                  .build = VersionText(Revision()),
                  .targets = target::BuiltInNames(),
                  .numerics_modes = job::NumericsModes(),
                  .passes = job::PassNames(),
                  .rewrites = job::Rewrites(),
                  .kernels = job::Kernels()};
  for (const ir::OpDef* op : ops::AllOps()) catalog.ops.emplace_back(op->name);
  return catalog;
}

}  // namespace octavo::server
