#include "core/job/settings.h"

#include <algorithm>
#include <array>

#include "core/profile/choose_params.h"

namespace octavo::job {
namespace {

template <class... Args>
Failure Wrong(std::string_view option, std::string_view value, std::string_view must) {
  return Fail(Code::kUsage, "--{} '{}' must be {}", option, value, must).Field(option);
}

constexpr std::array kLimits = {passes::Effect::kExact, passes::Effect::kFewerRoundings,
                                passes::Effect::kFewerClamps, passes::Effect::kNewParameters};
constexpr std::array<std::string_view, 4> kForms = {"qdq", "qlinear", "native", "text"};

std::string ModeNames() {
  std::vector<std::string_view> names;
  for (const auto& [mode, name] : ir::kNumericsNames) names.push_back(name);
  return fmt::format("one of {}", fmt::join(names, ", "));
}

Status ApplyTypes(const Options& options, target::Target& target) {
  if (!options.schema.empty()) {
    const auto schema = target::ParseSchema(options.schema);
    if (!schema) {
      return Wrong("schema", options.schema, "asymmetric, symmetric, symmetric-uint8 or pow2");
    }
    if (target.pow2_scales && *schema != target::Schema::kPow2) {
      return Wrong("schema", options.schema, fmt::format("pow2 for target {}", target.name));
    }
    target.schema = *schema;
    target.pow2_scales |= *schema == target::Schema::kPow2;
  }
  if (!options.activations.empty()) {
    const auto dtype = ir::ParseDType(options.activations);
    const auto& allowed = target.activations;
    if (!dtype || std::find(allowed.begin(), allowed.end(), *dtype) == allowed.end()) {
      std::vector<std::string_view> names;
      for (const ir::DType each : allowed) names.push_back(ir::Name(each));
      return Wrong("activations", options.activations,
                   fmt::format("one of {} for target {}", fmt::join(names, ", "), target.name));
    }
    // The first is the one that is used; the others stay allowed.
    std::stable_partition(target.activations.begin(), target.activations.end(),
                          [&](ir::DType each) { return each == *dtype; });
  }
  if (!options.weights.empty()) {
    if (options.weights != "i8" && options.weights != "i16") {
      return Wrong("weights", options.weights, "i8 or i16");
    }
    target.weights.dtype = *ir::ParseDType(options.weights);
  }
  if (!options.granularity.empty()) {
    if (options.granularity != "per-channel" && options.granularity != "per-tensor") {
      return Wrong("granularity", options.granularity, "per-channel or per-tensor");
    }
    target.weights.per_channel = options.granularity == "per-channel";
  }
  if (!options.numerics.empty()) {
    const auto mode = target::ParseNumerics(options.numerics);
    if (!mode) return Wrong("numerics", options.numerics, ModeNames());
    target.numerics = *mode;
  }
  return {};
}

}  // namespace

Result<passes::Settings> SettingsOf(const Request& request) {
  const Options& options = request.options;
  passes::Settings settings;
  if (request.target) {
    OCTAVO_TRY(settings.target, target::Parse(request.target->bytes.text()));
  } else {
    OCTAVO_TRY(settings.target, target::BuiltIn(options.target));
  }
  OCTAVO_CHECK(ApplyTypes(options, settings.target));
  bool known = false;
  for (const passes::Effect limit : kLimits) {
    if (passes::Name(limit) != options.numerics_limit) continue;
    settings.limit = limit;
    known = true;
  }
  if (!known) {
    return Wrong("numerics-limit", options.numerics_limit,
                 "exact, fewer-roundings, fewer-clamps or new-parameters");
  }
  if (std::find(kForms.begin(), kForms.end(), options.emit) == kForms.end()) {
    return Wrong("emit", options.emit, "qdq, qlinear, native or text");
  }
  if (options.external_over < 0 || options.external_over > kMostInline) {
    return Wrong("external-over", std::to_string(options.external_over),
                 fmt::format("from 0 to {} bytes", kMostInline));
  }
  OCTAVO_CHECK(profile::CheckCalibration(options.calibration));
  settings.calibration = options.calibration;
  settings.keep_float = options.keep_float;
  settings.weights_only = options.weights_only;
  settings.no_quantize = options.no_quantize;
  settings.integer_io = options.integer_io || settings.target.integer_io;
  settings.sink_quantize = options.sink_quantize;
  settings.leave_integers = options.leave_integers;
  settings.own_parameters = options.own_parameters;
  settings.fold_budget = options.fold_budget;
  return settings;
}

nlohmann::ordered_json OptionsJson(const Options& options, const passes::Settings& settings) {
  const target::Target& target = settings.target;
  nlohmann::ordered_json json = {
      {"target", target.name},
      {"emit", options.emit},
      {"schema", target::Name(target.schema)},
      {"activations", ir::Name(target.activations.front())},
      {"weights", ir::Name(target.weights.dtype)},
      {"granularity", target.weights.per_channel ? "per-channel" : "per-tensor"},
      {"calibration", settings.calibration},
      {"keep_float", settings.keep_float},
      {"weights_only", settings.weights_only},
      {"numerics", target::Name(target.numerics)},
      {"numerics_limit", passes::Name(settings.limit)},
      {"no_quantize", options.no_quantize},
      {"stop_before", options.stop_before},
      {"skip", options.skip},
      {"passes", options.passes},
      {"integer_io", settings.integer_io},
      {"sink_quantize", options.sink_quantize},
      {"leave_integers", options.leave_integers},
      {"own_parameters", options.own_parameters},
      {"fold_budget", options.fold_budget},
      {"external_over", options.external_over},
      {"opset", options.opset},
      {"shape", options.shape},
      {"batch", options.batch},
      {"strict_profile", options.strict_profile},
      {"require_sqnr", options.require_sqnr},
      {"require_cosine", options.require_cosine},
      {"deterministic", options.deterministic},
  };
  // It stands in the model only where weights lie beside it.
  if (!options.output_name.empty()) json["output_name"] = options.output_name;
  return json;
}

}  // namespace octavo::job
