// The loops over rows for any machine.
#include "core/runtime/rows/rows_body.h"

namespace octavo::runtime::rows {

const Rows kPortableRows = MakeRows();

}  // namespace octavo::runtime::rows
