// SPDX-License-Identifier: Apache-2.0
// Errors in a text, with their line.
#include <gtest/gtest.h>

#include <string>

#include "core/text/parse.h"
#include "tests/support/tiny_ops.h"

namespace octavo {
namespace {

Error ErrorOf(std::string_view text, int64_t max_bytes = int64_t{1} << 20) {
  const auto graph = text::Parse(text, {.find_op = &test::FindTinyOp, .max_bytes = max_bytes});
  return graph ? Error{.message = "no error"} : graph.error();
}
std::string MessageOf(std::string_view text) { return ErrorOf(text).message; }

struct Case {
  const char* name;
  const char* text;
  const char* message;
};

class TextError : public ::testing::TestWithParam<Case> {};

TEST_P(TextError, CarriesItsLine) { EXPECT_EQ(MessageOf(GetParam().text), GetParam().message); }

constexpr Case kCases[] = {
    {"UnknownOp", "graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Rellu(%x) : tensor<1xf32>\n}",
     "line 2: unknown op 'Rellu'"},
    {"ScalesAndZeroPoints",
     "graph(%x: tensor<3xi8, axis=0, scale=[1, 2], zp=[0, 0, 0]>) -> (%x) {}",
     "line 1: 2 scales but 3 zero points"},
    {"ScalesAndChannels", "graph(%x: tensor<3xi8, axis=0, scale=[1, 2], zp=[0, 1]>) -> (%x) {}",
     "line 1: 'x': 2 scales, but axis 0 has 3 channels"},
    {"NegativeScale", "graph(\n%x: tensor<3xi8, scale=-1, zp=0>) -> (%x) {}",
     "line 2: 'x': scale -1 must be positive and finite"},
    {"ZeroPointOfItsType", "graph(%x: tensor<3xi8, scale=1, zp=200>) -> (%x) {}",
     "line 1: 'x': zero point 200 is outside of i8"},
    {"AxisOutside", "graph(%x: tensor<3xi8, axis=1, scale=1, zp=0>) -> (%x) {}",
     "line 1: axis 1 is outside of shape 3"},
    {"LateListNeverGiven", "graph(%x: tensor<1xi8, scale=[], zp=0>) -> (%x) {}",
     "line 1: 'x' is left without scales or zero points"},
    {"LateListNotAwaited", "graph(%x: tensor<1xi8, scale=1, zp=0>) -> (%x) {\nscales %x = [1]\n}",
     "line 2: 'x' has no empty list of scales"},
    {"BlockWithoutAxis", "graph(%x: tensor<4xi8, block=2, scale=[1, 2], zp=0>) -> (%x) {}",
     "line 1: block 2 without an axis"},
    {"BlockOfNothing", "graph(%x: tensor<4xi8, axis=0, block=0, scale=1, zp=0>) -> (%x) {}",
     "line 1: block 0 must be at least 1 and less than 2^31"},
    {"BlockTooLong", "graph(%x: tensor<4xi8, axis=0, block=2147483648, scale=1, zp=0>) -> (%x) {}",
     "line 1: block 2147483648 must be at least 1 and less than 2^31"},
    {"ScalesAndBlocks",
     "graph(%x: tensor<4xi8, axis=0, block=3, scale=[1, 2, 3], zp=[0, 0, 0]>) -> (%x) {}",
     "line 1: 'x': 3 scales, but shape 4 has 2 blocks of 3 along axis 0"},
    {"BlocksOfAnInput", "graph(%x: tensor<4xi8, axis=0, block=2, scale=[1, 2], zp=0>) -> (%x) {}",
     "(G11) 'x' is 4xi8, block=2, axis=0, 2 scales, so it must be a constant, or a Quantize of "
     "one"},
    {"ElementOfFourBits",
     "graph() -> (%y) {\n  const %x = [7, 8] : tensor<2xi4, axis=0, block=2, scale=1, zp=0>\n"
     "  %y = Dequantize(%x) : tensor<2xf32>\n}",
     "line 2: '8' is not an element of type i4"},
    {"UndefinedOperand", "graph() -> () {\n  %y = Move(%x) : tensor<1xf32>\n}",
     "line 2: 'x' is not defined above"},
    {"UndefinedOutput", "graph() ->\n(%y) {}", "line 2: output 'y' is not defined"},
    {"DefinedTwice", "graph(%x: tensor<1xf32>) -> (%x) {\n  %x = Move(%x) : tensor<1xf32>\n}",
     "line 2: 'x' is defined twice"},
    {"NodeNamedTwice",
     "graph(%x: tensor<1xf32>) -> (%x) {\n  %y = Move@\"z\"(%x) : tensor<1xf32>\n"
     "  %z = Move(%x) : tensor<1xf32>\n}",
     "line 3: two nodes are named 'z'"},
    {"WrongType", "graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Move(%x) : tensor<2xf32>\n}",
     "line 2: 'y' is 2xf32, but Move makes 1xf32"},
    {"OpsOwnComplaint",
     "graph(%x: tensor<1xf32>, %z: tensor<2xf32>) -> (%y) {\n"
     "  %y = Plus(%x, %z) : tensor<1xf32>\n}",
     "line 2: Plus 'y': shapes 1 and 2 differ"},
    {"UnknownAttribute",
     "graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Move(%x) {pads=[1]} : tensor<1xf32>\n}",
     "line 2: Move 'y': unknown attribute 'pads'"},
    {"AttributeTwice",
     "graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Knobs(%x) {i=1, i=2} : tensor<1xf32>\n}",
     "line 2: attribute 'i' is given twice"},
    {"NestedList",
     "graph(%x: tensor<1xf32>) -> (%y) {\n  %y = Knobs(%x) {is=[[1]]} : tensor<1xf32>\n}",
     "line 2: expected a number or a string, but found '['"},
    {"VerifierFindsIt",
     "graph(%x: tensor<1xi8, scale=1, zp=0>) -> (%y) {\n"
     "  %y = Move(%x) : tensor<1xi8, scale=2, zp=0>\n}",
     "line 2: (G6) Move 'y': 'x' is 1xi8, scale=1, zp=0 and 'y' is 1xi8, scale=2, zp=0, but a "
     "same-scale op needs equal types"},
    {"ResultsAndTypes",
     "graph(%x: tensor<2xf32>) -> () {\n  %a, %b = Halves(%x) : tensor<1xf32>\n}",
     "line 2: 2 results but 1 types"},
    {"ElementCount", "graph() -> () {\n  const %c = [1, 2] : tensor<3xf32>\n}",
     "line 2: 2 elements, but 3xf32 has 3"},
    {"ElementOfItsType", "graph() -> () {\n  const %c = [1, 300] : tensor<2xu8>\n}",
     "line 2: '300' is not an element of type u8"},
    {"FractionInIntegers", "graph() -> () {\n  const %c = splat(0.5) : tensor<2xi32>\n}",
     "line 2: '0.5' is not an element of type i32"},
    {"PayloadWithoutSource",
     "graph() -> () {\n  const %c = data(sha256:00ff, 12) : tensor<3xf32>\n}",
     "line 2: no constant data are given for 00ff"},
    {"PayloadBytes", "graph() -> () {\n  const %c = data(sha256:00ff, 13) : tensor<3xf32>\n}",
     "line 2: data has 13 bytes, but 3xf32 needs 12"},
    {"SymbolicDimension", "graph(%x: tensor<?Nx3xf32>) -> (%x) {}",
     "line 1: dimension '?N' must be bound to a number"},
    {"NegativeDimension", "graph(%x: tensor<-1xf32>) -> (%x) {}",
     "line 1: dimension '-1' is not a number"},
    {"UnknownDType", "graph(%x: tensor<1xf8>) -> (%x) {}", "line 1: unknown element type 'f8'"},
    {"ShapeOverflows", "graph(%x: tensor<9223372036854775807x9223372036854775807xf32>) -> (%x) {}",
     "line 1: shape 9223372036854775807x9223372036854775807 is too large"},
    {"CutOff", "graph(%x: tensor<1xf32>) -> (%x) {\n\n",
     "line 3: expected '}', but found the end of the text"},
    {"TextAfterTheEnd", "graph() -> () {}\n}",
     "line 2: expected the end of the text, but found '}'"},
    {"OpenString", "graph() -> () {\n  metadata \"a\n = 1\n}",
     "line 2: a string is not closed on its line"},
    {"BadEscape", "graph(%\"\\q\": tensor<1xf32>) -> () {}",
     "line 1: an escape must be one of \\\" \\\\ \\n \\xNN"},
    {"EmptyName", "graph(%\"\": tensor<1xf32>) -> () {}", "line 1: a name must not be empty"},
    {"StrangeSign", "graph() -> () {\n;\n}", "line 2: \";\" has no meaning here"},
    {"Empty", "", "line 1: expected 'graph', but found the end of the text"},
};

INSTANTIATE_TEST_SUITE_P(Text, TextError, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TextError, TheErrorCodeTellsAWrongTextFromAnUnknownOp) {
  EXPECT_EQ(ErrorOf("graph(").code, Code::kInvalidArgument);
  EXPECT_EQ(ErrorOf("graph() -> () { %y = Rellu() : tensor<1xf32> }").code, Code::kUnimplemented);
}

TEST(TextError, MissingPayloadFileIsNamed) {
  const auto source = [](std::string_view digest) -> Result<Blob> {
    return Fail(Code::kUsage, "model.graph.data/{} is missing", digest);
  };
  const auto graph = text::Parse("graph() -> () {\n\nconst %c = data(sha256:ab, 4) : tensor<f32> }",
                                 {.find_op = &test::FindTinyOp, .payload = source});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "line 3: model.graph.data/ab is missing");
}

TEST(TextError, PayloadWithOtherBytesIsRefused) {
  const auto source = [](std::string_view) -> Result<Blob> { return Blob(std::string("abcd")); };
  const auto graph = text::Parse("graph() -> () { const %c = data(sha256:ab, 4) : tensor<f32> }",
                                 {.find_op = &test::FindTinyOp, .payload = source});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "line 1: the constant data given for ab do not match their digest");
}

TEST(TextError, ShortTextsCannotMakeLargeGraphs) {
  EXPECT_EQ(ErrorOf("graph() -> () { const %c = splat(0) : tensor<1000000xf32> }").code,
            Code::kTooLarge);
  EXPECT_EQ(ErrorOf("graph(%x: tensor<100000000xi8, axis=0, scale=1, zp=0>) -> (%x) {}").code,
            Code::kTooLarge);
  std::string many = "graph() -> () {\n";
  for (int i = 0; i < 40; ++i) {
    many += fmt::format("const %c{} = random({}) : tensor<10000xf32>\n", i, i);
  }
  EXPECT_EQ(MessageOf(many + "}"), "line 28: the text describes more than 1048576 bytes");
}

// A truncated or modified text gives a graph or an error, never a crash.
TEST(TextError, EveryDamagedTextIsRefusedOrRead) {
  const std::string text =
      R"(graph@"g"(%x: tensor<2x3xi8, scale=0.5, zp=-3>) -> (%y) opset(ai.onnx: 9) {
  const %w = random(1) : tensor<2x3xi8, axis=0, scale=[0.01, 0.5], zp=0>
  const %s = [2, 2] : tensor<2xi64>
  %q = Affine@"n"(%x, %w, _) : tensor<2x2xi8, scale=0.02, zp=7>
  %y = Shaped(%q, %s) : tensor<2x2xi8, scale=1e-2, zp=0, range=[0, 6]>
  alias %"o\x20ld" = %y
})";
  ASSERT_EQ(MessageOf(text), "no error");
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_NE(MessageOf(text.substr(0, i)), "no error") << i;
    for (const char sign : std::string_view("\"%(<{[,=x9-\0\xff", 13)) {
      std::string damaged = text;
      damaged[i] = sign;
      EXPECT_FALSE(MessageOf(damaged).empty());
    }
  }
  EXPECT_NE(MessageOf(std::string(1 << 20, '[')), "no error");
  EXPECT_NE(MessageOf("graph" + std::string(1 << 20, '(')), "no error");
}

}  // namespace
}  // namespace octavo
