// The loops over pairs for any processor.
#include "core/report/pair_loops_body.h"

namespace octavo::report {

const PairLoops kPortablePairLoops = MakePairLoops();

}  // namespace octavo::report
