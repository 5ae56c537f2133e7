// SPDX-License-Identifier: Apache-2.0
// TensorRT's calibration cache: a line "TRT-<version>-<calibrator>", then lines "<tensor>:
// <scale>".  The scale is a float as eight hex digits, most significant first.  The largest
// magnitude is 127 times the scale.
#include <bit>
#include <charconv>
#include <cmath>

#include "core/profile/formats/formats.h"

namespace octavo::profile {
namespace {

constexpr size_t kDigits = 8;

Failure Wrong(int line, std::string_view what) {
  return Fail(Code::kInvalidArgument, "profile: line {}: {}", line, what)
      .Field(fmt::format("line {}", line))
      .Reason("INVALID_PROFILE");
}

Status ReadLine(std::string_view text, int line, Profile& profile) {
  // A tensor's name may contain colons and spaces.
  const size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos) return Wrong(line, "must be '<tensor>: <scale>'");
  const std::string_view digits = text.substr(colon + 2);
  uint32_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.size() != kDigits || error != std::errc() || end != digits.data() + digits.size()) {
    return Wrong(line, "the scale must be eight hex digits");
  }
  const auto scale = std::bit_cast<float>(bits);
  if (!std::isfinite(scale) || std::signbit(scale)) {
    return Wrong(line, "the scale must be finite and not negative");
  }
  return AddRange(fmt::format("line {}", line), std::string(text.substr(0, colon)), -127 * scale,
                  127 * scale, profile);
}

}  // namespace

bool LooksLikeTensorRt(std::string_view text) { return text.starts_with("TRT-"); }

Result<Profile> ReadTensorRt(std::string_view text) {
  Profile profile;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.ends_with('\r')) part.remove_suffix(1);
    if (line == 1 || part.empty()) continue;
    OCTAVO_CHECK(ReadLine(part, line, profile));
  }
  return profile;
}

}  // namespace octavo::profile
