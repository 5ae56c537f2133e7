// The loops over pairs for AVX-512.
#if defined(__x86_64__)
#include "core/report/pair_loops_body.h"

namespace octavo::report {

const PairLoops kAvx512PairLoops = MakePairLoops();

}  // namespace octavo::report
#endif
