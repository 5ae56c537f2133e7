// SPDX-License-Identifier: Apache-2.0
// Notes in a graph's metadata by which import tells the pass fold-qdq about the model.  The pass
// removes them; a graph without them has been folded.
#pragma once

#include <string>
#include <string_view>

namespace octavo::ir {

// Who wrote the model: kQdqWriterOctavo, or anything else.
inline const std::string kQdqWriterKey = "octavo.qdq_writer";
inline constexpr std::string_view kQdqWriterOctavo = "octavo";
inline constexpr std::string_view kQdqWriterOther = "other";

// The names of the float biases that Octavo's exporter left to be quantized at s_x * s_w, as a JSON
// list.  A model carries it in its metadata_props.
inline const std::string kPendingBiasKey = "octavo.pending";

}  // namespace octavo::ir
