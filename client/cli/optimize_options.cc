#include "client/cli/optimize_options.h"

#include <charconv>

namespace octavo::cli {
namespace {

using Names = std::vector<std::string>;

std::string CheckCalibration(const std::string& text) {
  constexpr std::string_view kPercentile = "percentile:";
  for (const char* name : {"minmax", "mse", "entropy"}) {
    if (text == name) return {};
  }
  if (text.starts_with(kPercentile)) {
    double percent = 0;
    const char* begin = text.data() + kPercentile.size();
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, percent);
    if (error == std::errc() && rest == end && percent > 50 && percent <= 100) return {};
    return "the percentile must lie in (50, 100]";
  }
  return text + " not in {minmax,percentile:P,mse,entropy}";
}

void AddQuantizationFlags(CLI::App& command, OptimizeFlags& flags) {
  job::Options& options = flags.options;
  command.add_option("--schema", options.schema, "how parameters are chosen")
      ->check(CLI::IsMember(Names{"asymmetric", "symmetric", "symmetric-uint8", "pow2"}));
  command.add_option("--activations", options.activations, "type of activations")
      ->check(CLI::IsMember(Names{"u8", "i8", "i16"}));
  command.add_option("--weights", options.weights, "type of weights")
      ->check(CLI::IsMember(Names{"i8", "i16"}));
  auto* per_channel =
      command.add_flag("--per-channel", flags.per_channel, "a weight scale per output channel");
  command.add_flag("--per-tensor", flags.per_tensor, "one weight scale per tensor")
      ->excludes(per_channel);
  command.add_option("--calibration", options.calibration, "minmax, percentile:P, mse or entropy")
      ->check(CheckCalibration);
  command.add_option(
      "--keep-float", options.keep_float,
      "values, nodes or operators left alone; of a squeeze-and-excite block all of it");
  command.add_option("--weights-only", options.weights_only,
                     "values, nodes or operators that stay float but for their weights");
  command.add_option("--numerics", options.numerics, "numerics mode");
  command.add_option("--numerics-limit", options.numerics_limit, "what a rewrite may change")
      ->check(CLI::IsMember(Names{"exact", "fewer-roundings", "fewer-clamps", "new-parameters"}));
  command.add_flag("--own-parameters", options.own_parameters,
                   "every value has the parameters of its own range, shared with no other");
  command.add_flag("--no-quantize", options.no_quantize, "optimize what is already quantized");
  command.add_flag("--strict-profile", options.strict_profile,
                   "a profile that does not fit the model is an error");
}

void AddPipelineFlags(CLI::App& command, OptimizeFlags& flags) {
  job::Options& options = flags.options;
  command.add_option("--stop-before", options.stop_before, "leave out this pass and what follows");
  command.add_option("--skip", options.skip, "leave out these passes");
  command.add_option("--passes", flags.passes, "run only these passes, PASS,...")->delimiter(',');
  command.add_option("--fold-budget", options.fold_budget, "bytes that folding may add")
      ->check(CLI::NonNegativeNumber);
}

void AddFormFlags(CLI::App& command, OptimizeFlags& flags) {
  job::Options& options = flags.options;
  command.add_flag("--integer-io", options.integer_io,
                   "graph inputs and outputs are codes where all readers agree on them");
  command.add_flag("--sink-quantize", options.sink_quantize,
                   "movement on the way from a Quantize to a Dequantize runs on floats");
  command.add_flag("--leave-integers", options.leave_integers,
                   "a Dequantize of a Quantize goes, and a clamp with it");
  command
      .add_option("--external-over", options.external_over,
                  "weights of more bytes than this in all lie beside the model, in OUT.data")
      ->check(CLI::Range(int64_t{0}, job::kMostInline));
  command.add_option("--opset", options.opset, "opset of the result")->check(CLI::PositiveNumber);
  command.add_option("--shape", flags.shapes, "NAME=1,3,224,224 for a dynamic input");
  command.add_option("--batch", options.batch, "a dynamic batch becomes N")
      ->check(CLI::PositiveNumber);
  command.add_option("--require-sqnr", options.require_sqnr, "least dB of every output")
      ->check(CLI::PositiveNumber);
  command.add_option("--require-cosine", options.require_cosine, "least cosine of every output")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--threads", options.threads, "never changes a byte of the result")
      ->check(CLI::PositiveNumber);
  command.add_flag("--deterministic", options.deterministic, "no seconds in the report");
}

}  // namespace

// "NAME=1,3,224,224"; the name may hold '='.
Status ParseShape(const std::string& text, job::Options& options) {
  const auto wrong = [&]() -> Status {
    return Fail(Code::kUsage, "--shape '{}' is not NAME=D,D,.. with positive dimensions", text)
        .Field("--shape");
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrong();
  std::vector<int64_t> dims;
  const char* at = text.data() + equals + 1;
  const char* end = text.data() + text.size();
  while (at != end) {
    int64_t dim = 0;
    const auto [rest, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim <= 0) return wrong();
    dims.push_back(dim);
    if (rest == end) break;
    if (*rest != ',' || rest + 1 == end) return wrong();
    at = rest + 1;
  }
  if (!options.shape.emplace(text.substr(0, equals), std::move(dims)).second) {
    return Fail(Code::kUsage, "--shape names '{}' twice", text.substr(0, equals)).Field("--shape");
  }
  return {};
}

void AddJobFlags(CLI::App& command, OptimizeFlags& flags) {
  AddQuantizationFlags(command, flags);
  AddPipelineFlags(command, flags);
  AddFormFlags(command, flags);
}

Result<job::Options> FinishOptions(const OptimizeFlags& flags) {
  job::Options options = flags.options;
  if (flags.per_channel) options.granularity = "per-channel";
  if (flags.per_tensor) options.granularity = "per-tensor";
  options.passes = flags.passes;
  for (const std::string& shape : flags.shapes) OCTAVO_CHECK(ParseShape(shape, options));
  return options;
}

}  // namespace octavo::cli
