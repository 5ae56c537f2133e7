// SPDX-License-Identifier: Apache-2.0
#include "core/job/settings.h"

#include <algorithm>

#include "core/data/image_spec.h"
#include "core/data/sample_name.h"
#include "core/options/option_table.h"

namespace octavo::job {
namespace {

Failure NotForTarget(std::string_view option, std::string_view value, std::string_view must,
                     const target::Target& target) {
  return WrongOption(*FindOption(option), value,
                     fmt::format("{} for target {}", must, target.name));
}

}  // namespace

passes::Effect EffectOf(NumericsLimit limit) {
  switch (limit) {
    case NumericsLimit::kExact:
      return passes::Effect::kExact;
    case NumericsLimit::kFewerRoundings:
      return passes::Effect::kFewerRoundings;
    case NumericsLimit::kFewerClamps:
      return passes::Effect::kFewerClamps;
    case NumericsLimit::kNewParameters:
      return passes::Effect::kNewParameters;
  }
  return passes::Effect::kExact;
}

namespace {

// The options as they take effect: every choice that was left to the target or the data is filled
// in.
Options Resolved(const Request& request, const target::Target& target) {
  using enum WeightScales;
  Options options = request.options;
  options.target = target.name;
  options.schema = target.scheme;
  options.activations = target.activations.front();
  // Weights of 4 bits are an exception to the target's.
  if (!FourBitWeights(options)) options.weights = target.weights.dtype;
  options.granularity = target.weights.per_channel ? kPerChannel : kPerTensor;
  options.numerics = target.numerics;
  options.integer_io |= target.integer_io;
  options.rounding = RoundingOf(request);
  // The samples decide; nothing is known of those that chose a profile's ranges.
  const bool calibrates = !request.samples.empty() && !request.profile;
  if (options.equalize == Equalize::kAuto && !calibrates) options.equalize = Equalize::kOff;
  return options;
}

}  // namespace

Status CheckJobOptions(const Options& options) {
  OCTAVO_CHECK(CheckOptions(options));
  if (!options.image.empty()) OCTAVO_CHECK(data::ParseImageSpec(options.image));
  if (options.search && options.rounding && GivesCalibration(options) &&
      options.equalize != Equalize::kAuto) {
    return Fail(Code::kUsage,
                "--search has nothing to try: --calibration, --rounding and --equalize are given")
        .Field("search");
  }
  if (options.advise && options.accuracy_budget > 0) {
    return WrongOption(*FindOption("advise"), "true",
                       "left out with --accuracy-budget, which chooses by itself");
  }
  if (options.advise && options.search) {
    return WrongOption(
        *FindOption("advise"), "true",
        "left out with --search: search first, then ask for advice on what it chose");
  }
  const bool four_bits = FourBitWeights(options);
  if (four_bits && options.weights_only.empty()) {
    return WrongOption(*FindOption("weights"), ir::Name(*options.weights),
                       "given with --weights-only: no operator computes with 4-bit integers");
  }
  if (!four_bits && options.block != Options().block) {
    return WrongOption(*FindOption("block"), fmt::format("{}", options.block),
                       "left out, except with --weights i4");
  }
  return passes::CheckRunOptions(RunOptionsOf(options));
}

Status ApplyToTarget(const Options& options, target::Target& target) {
  using target::SchemeKind;
  if (options.schema) {
    if (target.pow2_scales && *options.schema != SchemeKind::kPow2) {
      return NotForTarget("schema", target::Name(*options.schema), "pow2", target);
    }
    target.scheme = *options.schema;
    target.pow2_scales |= target.scheme == SchemeKind::kPow2;
  }
  if (options.activations) {
    const auto& allowed = target.activations;
    if (std::ranges::find(allowed, *options.activations) == allowed.end()) {
      std::vector<std::string_view> names;
      for (const ir::DType each : allowed) names.push_back(ir::Name(each));
      return NotForTarget("activations", ir::Name(*options.activations),
                          fmt::format("one of {}", fmt::join(names, ", ")), target);
    }
    // The first activation dtype is the one in use; the others stay allowed.
    std::stable_partition(target.activations.begin(), target.activations.end(),
                          [&](ir::DType each) { return each == *options.activations; });
  }
  if (std::ranges::find(target.activations, ir::DType::kI16) == target.activations.end()) {
    constexpr std::string_view kMust = "left out, as there are no 16-bit activations";
    if (!options.int16.empty()) {
      return NotForTarget("int16", options.int16.front(), kMust, target);
    }
    if (options.accuracy_budget > 0) {
      return NotForTarget("accuracy_budget", fmt::format("{:g}", options.accuracy_budget), kMust,
                          target);
    }
  }
  if (FourBitWeights(options)) {
    if (target.fully_quantized || target.pow2_scales) {
      return NotForTarget("weights", ir::Name(*options.weights), "i8 or i16", target);
    }
  } else if (options.weights) {
    target.weights.dtype = *options.weights;
  }
  if (options.granularity) {
    target.weights.per_channel = *options.granularity == WeightScales::kPerChannel;
  }
  if (options.numerics) target.numerics = *options.numerics;
  return {};
}

Result<passes::Settings> SettingsOf(const Request& request) {
  OCTAVO_CHECK(CheckJobOptions(request.options));
  if (request.options.search && request.profile) {
    return Fail(Code::kUsage,
                "--search needs samples that calibrate: give --data, and no --profile")
        .Field("search");
  }
  passes::Settings settings;
  if (request.target) {
    OCTAVO_TRY(settings.target, target::Parse(request.target->bytes.text()));
  } else {
    OCTAVO_TRY(settings.target, target::BuiltIn(request.options.target));
  }
  OCTAVO_CHECK(ApplyToTarget(request.options, settings.target));
  settings.limit = EffectOf(request.options.numerics_limit);
  settings.options = Resolved(request, settings.target);
  // All samples of --data calibrate where others evaluate.
  const auto evaluates = [](const NamedBlob& blob) {
    return data::KindOf(blob.name) == data::SampleKind::kEvaluation;
  };
  if (std::ranges::any_of(request.samples, evaluates) &&
      request.options.holdout.kind == profile::Holdout::Kind::kAuto) {
    settings.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  }
  return settings;
}

Rounding RoundingOf(const Request& request) {
  const bool calibrates = !request.samples.empty() && !request.profile;
  return request.options.rounding.value_or(calibrates ? Rounding::kDescent : Rounding::kNearest);
}

bool CollectsMoments(const Request& request, const Options& options) {
  return !request.profile && *options.rounding != Rounding::kNearest;
}

bool CollectsChannels(const Options& options) { return options.equalize != Equalize::kOff; }

bool GivesCalibration(const Options& given) { return given.calibration != profile::Calibration(); }

passes::RunOptions RunOptionsOf(const Options& options) {
  return {.stop_before = options.stop_before, .skip = options.skip, .only = options.passes};
}

}  // namespace octavo::job
