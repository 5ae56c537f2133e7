// The products of rows for any processor.
#include "core/ops/recurrent_loops_body.h"

namespace octavo::ops {

const RecurrentLoops kPortableRecurrentLoops = MakeRecurrentLoops();

}  // namespace octavo::ops
