// The loops that count values for AVX2.
#if defined(__x86_64__)
#include "core/profile/count_loops_body.h"

namespace octavo::profile {

const CountLoops kAvx2CountLoops = MakeCountLoops();

}  // namespace octavo::profile
#endif
