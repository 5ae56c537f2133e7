// The loops that count values for AVX-512.
#if defined(__x86_64__)
#include "core/profile/count_loops_body.h"

namespace octavo::profile {

const CountLoops kAvx512CountLoops = MakeCountLoops();

}  // namespace octavo::profile
#endif
