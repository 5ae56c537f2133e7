// SPDX-License-Identifier: Apache-2.0
// Writes Glow's three documents.  All bins of its histograms have the same width, from min to max.
#include <algorithm>
#include <cmath>

#include "core/profile/profile.h"

namespace octavo::profile {
namespace {

constexpr int kGlowBins = 512;

// Returns a double-quoted scalar with control characters escaped.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Adds each count to the bin that contains the middle of the count's own bin, or to the nearest
// bin.
std::vector<int64_t> Rebin(const Entry& entry) {
  if (!entry.histogram || entry.histogram->empty()) return {};
  std::vector<int64_t> bins(kGlowBins, 0);
  const Histogram& histogram = *entry.histogram;
  const double width = (double(entry.max) - entry.min) / kGlowBins;
  for (size_t k = 0; k < histogram.counts().size(); ++k) {
    const double middle = histogram.low() + (double(k) + 0.5) * histogram.width();
    const double at = width > 0 ? std::floor((middle - entry.min) / width) : 0;
    bins[static_cast<size_t>(std::clamp(at, 0.0, double(kGlowBins - 1)))] += histogram.counts()[k];
  }
  return bins;
}

}  // namespace

std::string ToGlowYaml(const Profile& profile) {
  std::string out =
      "---\nGlowToolsVersion: \"\"\n...\n---\nGraphPreLowerHash: 0x0000000000000000\n...\n---\n";
  if (profile.values.empty()) out += "[]\n";
  for (const auto& [name, entry] : profile.values) {
    const std::string output = profile.glow_names ? name : name + ":0";
    out += fmt::format("- NodeOutputName: {}\n  Min: {}\n  Max: {}\n  Histogram: [ {} ]\n",
                       Quoted(output), entry.min, entry.max, fmt::join(Rebin(entry), ", "));
  }
  return out + "...\n";
}

}  // namespace octavo::profile
