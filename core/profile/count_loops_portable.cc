// The loops that count values for any processor.
#include "core/profile/count_loops_body.h"

namespace octavo::profile {

const CountLoops kPortableCountLoops = MakeCountLoops();

}  // namespace octavo::profile
