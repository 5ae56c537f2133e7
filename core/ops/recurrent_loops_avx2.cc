// The products of rows for AVX2.
#if defined(__x86_64__)
#include "core/ops/recurrent_loops_body.h"

namespace octavo::ops {

const RecurrentLoops kAvx2RecurrentLoops = MakeRecurrentLoops();

}  // namespace octavo::ops
#endif
