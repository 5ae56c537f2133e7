// SPDX-License-Identifier: Apache-2.0
// Metadata entries of a graph by which the importer informs the pass fold-qdq about the model, and
// that pass a later one.  The passes remove them.
#pragma once

#include <string>
#include <string_view>

namespace octavo::ir {

// The program that wrote the model: kQdqWriterOctavo or kQdqWriterOther.
inline const std::string kQdqWriterKey = "octavo.qdq_writer";
inline constexpr std::string_view kQdqWriterOctavo = "octavo";
inline constexpr std::string_view kQdqWriterOther = "other";

// Left by fold-qdq where ops on dequantized values stay float: who wrote the model.  move-quantize
// may still make them integer ops; merge-constants removes the note.
inline const std::string kQdqFloatsKey = "octavo.qdq_floats";

// Names of float biases of integer ops in a model that Octavo exported before its last pass, as
// JSON lists in the model's metadata_props: those that only have to be rounded, at s_x * s_w, and
// those that specialize-bias has not seen yet.
inline const std::string kPendingBiasKey = "octavo.pending";
inline const std::string kFloatBiasKey = "octavo.float_bias";

// Names of the nodes on dequantized values that a finished job kept in float, as a JSON list in the
// model's metadata_props: by an option, for a target, or because a guard asked for it.  They are
// not made integer ops when the model is read again.
inline const std::string kKeptFloatKey = "octavo.kept_float";

// Names of the float nodes that a job kept in float because an option named them or the target
// keeps their op in float, as a JSON list in the model's metadata_props.  Passes of later jobs do
// not move a Quantize or a Dequantize past them (core/passes/quantize/float_choice.h).
inline const std::string kFloatOnRequestKey = "octavo.float_on_request";

// Names of the nodes that compute the result of an op which export wrote out in smaller ones,
// because the opset lacks it, as a JSON list in the model's metadata_props.  Each is that op again
// when the model is read.
inline const std::string kWrittenOutKey = "octavo.written_out";

// Names of the products of quantized operands that dequantize their sums (ir::DequantizesSums), as
// a JSON list in the model's metadata_props.  Each does so again when the model is read.
inline const std::string kFloatResultKey = "octavo.float_result";

// How the model came about: the digest of the job's action, its options as JSON, and the digest of
// the profile.  A job writes them anew only where it changes the model.
inline const std::string kActionDigestKey = "octavo.action_digest";
inline const std::string kOptionsKey = "octavo.options";
inline const std::string kProfileDigestKey = "octavo.profile_digest";

// Whether `name` is `base`, or one of base_1, base_2.. that stand in for it where it is taken.
inline bool IsNumberedName(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  return name.empty() || (name.size() > 1 && name[0] == '_' &&
                          name.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

}  // namespace octavo::ir
