// The loops over rows for AVX-512.
#if defined(__x86_64__)
#include "core/runtime/rows/rows_body.h"

namespace octavo::runtime::rows {

const Rows kAvx512Rows = MakeRows();

}  // namespace octavo::runtime::rows
#endif
