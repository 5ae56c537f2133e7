#include "core/runtime/rows/rows.h"

#include "core/base/cpu.h"

namespace octavo::runtime::rows {

const Rows& CurrentRows() {
#if defined(__x86_64__)
  switch (CurrentIsa()) {
    case Isa::kAvx512Vnni:
    case Isa::kAvx512:
      return kAvx512Rows;
    case Isa::kAvx2:
      return kAvx2Rows;
    case Isa::kSse4:
    case Isa::kPortable:
      break;
  }
#endif
  return kPortableRows;
}

}  // namespace octavo::runtime::rows
