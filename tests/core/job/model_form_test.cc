// SPDX-License-Identifier: Apache-2.0
// A model's content determines its form, whatever its name.
#include "core/job/model_form.h"

#include <gtest/gtest.h>

#include "core/job/execute.h"
#include "tests/core/onnx/model_builder.h"

namespace octavo::job {
namespace {

constexpr std::string_view kText = R"(# halves

graph(%x: tensor<2x3xf32>) -> (%y) {
  %y = Relu(%x) : tensor<2x3xf32>
}
)";

Blob TextModel() { return Blob(std::string(kText)); }

Blob OnnxModel() {
  onnx::ModelBuilder builder;
  return builder.Input("x", {2, 3}).Node("Relu", {"x"}, {"y"}).Output("y").Build();
}

Blob NativeModel() {
  Request request;
  request.model = {"m.graph", TextModel()};
  request.options.emit = EmitForm::kNative;
  request.options.no_quantize = true;
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? outcome->model.bytes : Blob();
}

TEST(ModelForm, IsThatOfTheContentUnderAnyName) {
  for (const char* name : {"", "model", "m.onnx", "m.bin"}) {
    EXPECT_EQ(FormOf({name, TextModel()}), ModelForm::kText) << name;
    EXPECT_EQ(FormOf({name, NativeModel()}), ModelForm::kNative) << name;
    EXPECT_EQ(FormOf({name, OnnxModel()}), ModelForm::kOnnx) << name;
  }
  EXPECT_EQ(FormOf({"m.octavo", TextModel()}), ModelForm::kText);
  EXPECT_EQ(FormOf({"m.graph", NativeModel()}), ModelForm::kNative);
}

TEST(ModelForm, OfADamagedModelIsWhatItsNameSays) {
  const Blob cut(std::string(NativeModel().text().substr(0, 3)));
  EXPECT_EQ(FormOf({"m.octavo", cut}), ModelForm::kNative);
  EXPECT_EQ(FormOf({"m.graph", Blob(std::string("grahp() {"))}), ModelForm::kText);
  EXPECT_EQ(FormOf({"m.onnx", cut}), ModelForm::kOnnx);
  EXPECT_EQ(FormOf({"m.onnx", Blob()}), ModelForm::kOnnx);
}

TEST(ModelForm, EveryFormRunsWithoutAName) {
  for (const Blob& bytes : {TextModel(), NativeModel(), OnnxModel()}) {
    const auto files = RunModel(
        {.model = {"model", bytes}, .samples = {{"random:1:2", Blob(std::string())}}, .threads = 1},
        /*all_values=*/false, {}, {});
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->front().name, "y.npy");
  }
}

}  // namespace
}  // namespace octavo::job
