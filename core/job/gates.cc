// SPDX-License-Identifier: Apache-2.0
#include "core/job/gates.h"

#include <algorithm>

#include "core/data/sample_name.h"

namespace octavo::job {
namespace {

constexpr std::string_view kWhyUndefined =
    "its elements are all zero, or are not finite in one of the models";

std::string FailedBy(const Options& options, const v1::ValueNumerics& output) {
  std::string message;
  const double sqnr = options.require_sqnr, cosine = options.require_cosine;
  if (sqnr > 0 && !output.has_sqnr_db()) {
    message = fmt::format("output '{}' has no SQNR: {}", output.name(), kWhyUndefined);
  } else if (sqnr > 0 && output.sqnr_db() < sqnr) {
    message = fmt::format("output '{}' has an SQNR of {:.2f} dB, below {}", output.name(),
                          output.sqnr_db(), sqnr);
  }
  if (cosine > 0 && !output.has_cosine()) {
    message = fmt::format("output '{}' has no cosine: {}", output.name(), kWhyUndefined);
  } else if (cosine > 0 && output.cosine() < cosine) {
    message = fmt::format("output '{}' has a cosine of {:.6f}, below {}", output.name(),
                          output.cosine(), cosine);
  }
  return message;
}

bool IsEvaluation(const std::string& name) {
  return data::KindOf(name) == data::SampleKind::kEvaluation;
}

}  // namespace

bool HasGate(const Options& options) {
  return options.require_sqnr > 0 || options.require_cosine > 0;
}

bool IsRandom(std::string_view samples) {
  return data::KindOf(data::WithoutWord(samples)) == data::SampleKind::kRandom;
}

Status CheckGateSamples(const Options& options, const std::vector<std::string>& samples) {
  if (!HasGate(options) || options.allow_random) return {};
  // Those of --evaluate judge, if there are any.
  const bool apart = std::ranges::any_of(samples, &IsEvaluation);
  const auto judges_at_random = [&](const std::string& name) {
    return IsEvaluation(name) == apart && IsRandom(name);
  };
  if (std::ranges::none_of(samples, judges_at_random)) return {};
  const bool by_sqnr = options.require_sqnr > 0;
  return Fail(Code::kUsage,
              "{} needs real samples, but these are random numbers; --allow-random lets it judge "
              "by them",
              by_sqnr ? "--require-sqnr" : "--require-cosine")
      .Field(by_sqnr ? "require_sqnr" : "require_cosine");
}

std::string FailedGate(const Options& options, std::span<const v1::ValueNumerics> outputs) {
  if (!HasGate(options)) return {};
  if (outputs.empty()) return "no output has figures: none is a float value of both models";
  std::string message;
  for (const v1::ValueNumerics& output : outputs) {
    if (output.exact()) continue;
    if (std::string failed = FailedBy(options, output); !failed.empty()) {
      message = std::move(failed);
    }
  }
  return message;
}

}  // namespace octavo::job
