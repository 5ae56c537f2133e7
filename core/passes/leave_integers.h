// The law of --leave-integers: a value between floats need not be quantized at all.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kLeftIntegers = {"left-integers", "Dequantize(Quantize(x)) -> x",
                                       Effect::kFewerClamps,
                                       "--leave-integers, and a limit other than exact; an output "
                                       "keeps its name; Quantize's type ends "
                                       "at zero only where x is computed so"};

// Applies the law wherever it holds.  The option names this one law, so it is the user's word that
// the effect needs: the default limit does not hold it back.  The limit `exact` is never a default
// and promises more than the option asks; under it the pairs are kept, with that reason.
Status LeaveIntegers(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
