// The loops over rows for AVX2.
#if defined(__x86_64__)
#include "core/runtime/rows/rows_body.h"

namespace octavo::runtime::rows {

const Rows kAvx2Rows = MakeRows();

}  // namespace octavo::runtime::rows
#endif
