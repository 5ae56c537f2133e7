// The form that a profile is written in is not seen in the model.
#include <gtest/gtest.h>

#include "core/job/job.h"

namespace octavo::job {
namespace {

constexpr std::string_view kModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  %c = Conv(%x, %w) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %y = Relu(%c) : tensor<1x4x8x8xf32>
}
)";

std::string ModelWith(std::string_view profile) {
  Request request;
  request.model = {"tiny.graph", Blob(std::string(kModel))};
  request.profile = NamedBlob{"profile", Blob(std::string(profile))};
  request.options.emit = "text";
  request.options.deterministic = true;
  request.options.threads = 1;
  const auto outcome = Run(request, {}, {});
  if (outcome) return std::string(outcome->model.bytes.text());
  ADD_FAILURE() << outcome.error().message;
  return {};
}

TEST(ProfileForms, GiveEqualModels) {
  const std::string own = ModelWith(R"({"octavo_profile": 1, "values": [
      {"name": "x", "min": -127, "max": 127}, {"name": "c", "min": -254, "max": 254},
      {"name": "y", "min": -127, "max": 127}]})");
  EXPECT_EQ(own, ModelWith("TRT-8400-EntropyCalibration2\nx: 3f800000\nc: 40000000\n"
                           "y: 3f800000\n"));
  EXPECT_EQ(own, ModelWith(R"({"x": [-127, 127], "c": [-254, 254], "y": [-127, 127]})"));
  EXPECT_EQ(own, ModelWith("---\nGlowToolsVersion: ''\n...\n---\nGraphPreLowerHash: 0x0\n...\n---\n"
                           "- {NodeOutputName: 'x:0', Min: -127, Max: 127, Histogram: []}\n"
                           "- {NodeOutputName: c__1:0, Min: -254, Max: 254, Histogram: []}\n"
                           "- {NodeOutputName: y, Min: -127.0, Max: 127.0, Histogram: []}\n...\n"));
}

}  // namespace
}  // namespace octavo::job
