// SPDX-License-Identifier: Apache-2.0
// Tokens, types, constant data and attributes of a text graph.
#include "core/text/parser.h"

#include <algorithm>
#include <limits>

#include "core/base/sha256.h"
#include "core/ir/blocks.h"
#include "core/ir/canonical_quant.h"
#include "core/ir/verify.h"
#include "core/text/elements.h"

namespace octavo::text {
namespace {

constexpr int kMaxRank = 64;

bool LooksLikeFloat(std::string_view text) {
  return text.find_first_of(".eEnN") != std::string_view::npos;
}

}  // namespace

// ---------------------------------------------------------------- tokens

Failure Parser::Unexpected(std::string_view expected) const {
  if (token_.kind == TokenKind::kError) return Wrong(token_.line, "{}", token_.text);
  if (token_.kind == TokenKind::kEnd) {
    return Wrong(token_.line, "expected {}, but found {}", expected, token_.text);
  }
  return Wrong(token_.line, "expected {}, but found '{}'", expected, token_.text);
}

bool Parser::AcceptSign(std::string_view sign) {
  if (!AtSign(sign)) return false;
  Advance();
  return true;
}

bool Parser::AcceptWord(std::string_view word) {
  if (!AtWord(word)) return false;
  Advance();
  return true;
}

Status Parser::ExpectSign(std::string_view sign) {
  if (!AcceptSign(sign)) return Unexpected(fmt::format("'{}'", sign));
  return {};
}

Result<std::string> Parser::Take(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) return Unexpected(what);
  std::string text = std::move(token_.text);
  Advance();
  return text;
}

Result<int64_t> Parser::TakeInt(std::string_view what) {
  int64_t value = 0;
  if (token_.kind != TokenKind::kWord || !ParseInt(token_.text, value)) return Unexpected(what);
  Advance();
  return value;
}

Result<float> Parser::TakeFloat(std::string_view what) {
  float value = 0;
  if (token_.kind != TokenKind::kWord || !ParseFloat(token_.text, value)) return Unexpected(what);
  Advance();
  return value;
}

Status Parser::Spend(int64_t count, int64_t size, int line) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > options_.max_bytes - spent_) {
    return Fail(Code::kTooLarge, "line {}: the text describes more than {} bytes", line,
                options_.max_bytes);
  }
  spent_ += bytes;
  return {};
}

// ---------------------------------------------------------------- types

// 'tensor<' (int 'x')* dtype (',' quant)? (',' 'range=[' float ',' float ']')? '>'
Result<TypeText> Parser::ParseType() {
  if (!AcceptWord("tensor")) return Unexpected("a type");
  OCTAVO_CHECK(ExpectSign("<"));
  TypeText result{.line = token_.line};
  OCTAVO_TRY(const std::string word, Take(TokenKind::kWord, "a shape and an element type"));
  OCTAVO_CHECK(ParseShape(word, result));
  while (AcceptSign(",")) {
    if (AtWord("axis") || AtWord("block") || AtWord("scale")) {
      if (result.quantized) return Wrong(token_.line, "a type has two scales");
      OCTAVO_CHECK(ParseQuant(result));
    } else if (AcceptWord("range")) {
      OCTAVO_CHECK(ParseRange(result.type));
    } else {
      return Unexpected("axis=, scale= or range=");
    }
  }
  OCTAVO_CHECK(ExpectSign(">"));
  return result;
}

Status Parser::ParseShape(std::string_view word, TypeText& result) {
  for (size_t cut = word.find('x'); cut != std::string_view::npos; cut = word.find('x')) {
    const std::string_view extent = word.substr(0, cut);
    int64_t value = 0;
    if (!extent.empty() && extent[0] == '?') {
      return Wrong(result.line, "dimension '{}' must be bound to a number", extent);
    }
    if (!ParseInt(extent, value) || value < 0) {
      return Wrong(result.line, "dimension '{}' is not a number", extent);
    }
    result.type.shape.push_back(value);
    if (result.type.shape.size() > kMaxRank) {
      return Wrong(result.line, "a shape has more than {} dimensions", kMaxRank);
    }
    word = word.substr(cut + 1);
  }
  const auto dtype = ir::ParseDType(word);
  if (!dtype) return Wrong(result.line, "unknown element type '{}'", word);
  result.type.dtype = *dtype;
  if (result.type.bytes() > (int64_t{1} << 48)) {
    return Wrong(result.line, "shape {} is too large", ir::ToString(result.type.shape));
  }
  return {};
}

// ('axis=' int ',')? ('block=' int ',')? 'scale=' scales ',' 'zp=' zero points
Status Parser::ParseQuant(TypeText& result) {
  ir::Quant quant;
  if (AcceptWord("axis")) {
    OCTAVO_CHECK(ExpectSign("="));
    OCTAVO_TRY(const int64_t axis, TakeInt("an axis"));
    const int64_t rank = static_cast<int64_t>(result.type.shape.size());
    if (axis < 0 || axis >= rank) {
      return Wrong(result.line, "axis {} is outside of shape {}", axis,
                   ir::ToString(result.type.shape));
    }
    quant.axis = static_cast<int>(axis);
    OCTAVO_CHECK(ExpectSign(","));
  }
  if (AcceptWord("block")) {
    OCTAVO_CHECK(ExpectSign("="));
    OCTAVO_TRY(const int64_t block, TakeInt("a number of elements"));
    if (!quant.axis) return Wrong(result.line, "block {} without an axis", block);
    if (block < 1 || block > std::numeric_limits<int>::max()) {
      return Wrong(result.line, "block {} must be at least 1 and less than 2^31", block);
    }
    quant.block = static_cast<int>(block);
    OCTAVO_CHECK(ExpectSign(","));
  }
  if (!AcceptWord("scale")) return Unexpected("scale=");
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(quant.scales, ParseScales());
  OCTAVO_CHECK(ExpectSign(","));
  if (!AcceptWord("zp")) return Unexpected("zp=");
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(quant.zero_points, ParseZeroPoints());
  result.type.quant = std::move(quant);
  result.quantized = true;
  return Settle(result.type, result.line);
}

Result<std::vector<float>> Parser::ParseScales() {
  std::vector<float> scales;
  const auto item = [&]() -> Status {
    OCTAVO_TRY(const float scale, TakeFloat("a scale"));
    scales.push_back(scale);
    return {};
  };
  if (AcceptSign("[")) {
    OCTAVO_CHECK(List("]", item));
  } else {
    OCTAVO_CHECK(item());
  }
  return scales;
}

Result<std::vector<int32_t>> Parser::ParseZeroPoints() {
  std::vector<int32_t> zero_points;
  const auto item = [&]() -> Status {
    const int line = token_.line;
    OCTAVO_TRY(const int64_t zero_point, TakeInt("a zero point"));
    if (zero_point != static_cast<int32_t>(zero_point)) {
      return Wrong(line, "zero point {} is out of range", zero_point);
    }
    zero_points.push_back(static_cast<int32_t>(zero_point));
    return {};
  };
  if (AcceptSign("[")) {
    OCTAVO_CHECK(List("]", item));
  } else {
    OCTAVO_CHECK(item());
  }
  return zero_points;
}

Status Parser::Settle(ir::Type& type, int line) {
  ir::Quant& quant = *type.quant;
  const size_t scales = quant.scales.size(), zero_points = quant.zero_points.size();
  if (scales == 0 || zero_points == 0) return {};  // a later statement supplies the list
  const int64_t channels = quant.blocked() ? ir::Blocks::Of(quant, type.shape).scales()
                           : quant.axis    ? type.shape[*quant.axis]
                                           : 1;
  const auto repeat = [&](auto& list) -> Status {
    if (list.size() != 1 || channels == 1) return {};
    OCTAVO_CHECK(Spend(channels, 4, line));
    list.assign(channels, list[0]);
    return {};
  };
  if (scales != zero_points && scales != 1 && zero_points != 1) {
    return Wrong(line, "{} scales but {} zero points", scales, zero_points);
  }
  OCTAVO_CHECK(repeat(quant.scales));
  OCTAVO_CHECK(repeat(quant.zero_points));
  if (quant.scales.size() != quant.zero_points.size()) {
    return Wrong(line, "{} scales but {} zero points", scales, zero_points);
  }
  quant = ir::Canonical(std::move(quant));
  return {};
}

Status Parser::ParseRange(ir::Type& type) {
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_CHECK(ExpectSign("["));
  ir::Range range;
  OCTAVO_TRY(range.min, TakeFloat("a number"));
  OCTAVO_CHECK(ExpectSign(","));
  OCTAVO_TRY(range.max, TakeFloat("a number"));
  type.range = range;
  return ExpectSign("]");
}

// ---------------------------------------------------------------- constant data

Result<std::vector<std::string>> Parser::ParseNumbers() {
  std::vector<std::string> numbers;
  OCTAVO_CHECK(ExpectSign("["));
  OCTAVO_CHECK(List("]", [&]() -> Status {
    OCTAVO_TRY(std::string number, Take(TokenKind::kWord, "a number"));
    numbers.push_back(std::move(number));
    return {};
  }));
  return numbers;
}

Result<Parser::PayloadText> Parser::ParsePayload() {
  PayloadText payload{.line = token_.line};
  if (AtSign("[")) {
    OCTAVO_TRY(payload.numbers, ParseNumbers());
    return payload;
  }
  if (!AtPayloadWord()) return Unexpected("constant data: [..], splat(), random() or data()");
  OCTAVO_TRY(const std::string word, Take(TokenKind::kWord, "constant data"));
  OCTAVO_CHECK(ExpectSign("("));
  if (word == "splat") {
    payload.kind = PayloadText::Kind::kSplat;
    OCTAVO_TRY(std::string number, Take(TokenKind::kWord, "a number"));
    payload.numbers.push_back(std::move(number));
  } else if (word == "random") {
    payload.kind = PayloadText::Kind::kRandom;
    OCTAVO_TRY(const int64_t seed, TakeInt("a seed"));
    payload.seed = static_cast<uint64_t>(seed);
  } else {
    payload.kind = PayloadText::Kind::kData;
    if (!AcceptWord("sha256")) return Unexpected("sha256:");
    OCTAVO_CHECK(ExpectSign(":"));
    OCTAVO_TRY(payload.digest, Take(TokenKind::kWord, "a digest"));
    OCTAVO_CHECK(ExpectSign(","));
    OCTAVO_TRY(payload.bytes, TakeInt("a number of bytes"));
  }
  OCTAVO_CHECK(ExpectSign(")"));
  return payload;
}

Result<ir::PayloadPtr> Parser::MakePayload(const PayloadText& text, const ir::Type& type) {
  using Kind = PayloadText::Kind;
  if (text.kind == Kind::kData) {
    if (text.bytes != type.bytes()) {
      return Wrong(text.line, "data has {} bytes, but {} needs {}", text.bytes, ToString(type),
                   type.bytes());
    }
    if (!options_.payload) {
      return Wrong(text.line, "no constant data are given for {}", text.digest);
    }
    auto blob = options_.payload(text.digest);
    if (!blob) return Wrong(text.line, "{}", blob.error().message);
    if (static_cast<int64_t>(blob->size()) != text.bytes ||
        Sha256Of(blob->bytes()) != text.digest) {
      return Wrong(text.line, "the constant data given for {} do not match their digest",
                   text.digest);
    }
    ir::Tensor tensor(type.dtype, type.shape, *blob);
    if (!HoldsElements(tensor)) {
      return Wrong(text.line, "the constant data have a byte that is no {}", Name(type.dtype));
    }
    return ir::MakePayload(std::move(tensor));
  }
  const int64_t count = static_cast<int64_t>(text.numbers.size());
  if (text.kind == Kind::kLiteral && count != type.elements()) {
    return Wrong(text.line, "{} elements, but {} has {}", count, ToString(type), type.elements());
  }
  OCTAVO_CHECK(Spend(type.elements(), ir::SizeOf(type.dtype), text.line));
  if (text.kind == Kind::kRandom) {
    return std::make_shared<const ir::Payload>(
        ir::Payload{RandomTensor(type.dtype, type.shape, text.seed), text.seed});
  }
  ir::Tensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const std::string& number = text.numbers[text.kind == Kind::kSplat ? 0 : i];
    if (!ParseElement(number, tensor, i)) {
      return Wrong(text.line, "'{}' is not an element of type {}", number, Name(type.dtype));
    }
  }
  return ir::MakePayload(std::move(tensor));
}

// ---------------------------------------------------------------- attributes

Status Parser::ParseAttributes(const ir::OpDef& op, ir::AttrMap& attributes) {
  return List("}", [&]() -> Status {
    const int line = token_.line;
    OCTAVO_TRY(const std::string name, Take(TokenKind::kWord, "an attribute's name"));
    if (attributes.Has(name)) return Wrong(line, "attribute '{}' is given twice", name);
    OCTAVO_CHECK(ExpectSign("="));
    const auto spec = std::find_if(op.attributes.begin(), op.attributes.end(),
                                   [&](const ir::AttrSpec& row) { return row.name == name; });
    OCTAVO_TRY(ir::Attribute value, ParseAttribute(spec == op.attributes.end() ? nullptr : &*spec));
    attributes.Set(name, std::move(value));
    return {};
  });
}

Result<ir::Attribute> Parser::TensorAttribute(const PayloadText& payload) {
  OCTAVO_CHECK(ExpectSign(":"));
  OCTAVO_TRY(const TypeText type, ParseType());
  if (type.quantized) return Wrong(type.line, "an attribute is not quantized");
  OCTAVO_TRY(ir::PayloadPtr tensor, MakePayload(payload, type.type));
  return ir::Attribute(std::move(tensor));
}

// The op's schema decides whether `1` is an integer or a float; without a schema, the spelling
// decides.
Result<ir::Attribute> Parser::ParseAttribute(const ir::AttrSpec* spec) {
  if (token_.kind == TokenKind::kString) {
    OCTAVO_TRY(std::string text, Take(TokenKind::kString, "a string"));
    return ir::Attribute(std::move(text));
  }
  if (AtSign("[")) return ParseAttributeList(spec);
  if (AtPayloadWord()) {
    OCTAVO_TRY(PayloadText payload, ParsePayload());
    return TensorAttribute(payload);
  }
  if (token_.kind != TokenKind::kWord) return Unexpected("an attribute");
  const bool is_float = spec ? spec->kind == ir::AttrKind::kFloat : LooksLikeFloat(token_.text);
  if (is_float) {
    OCTAVO_TRY(const float value, TakeFloat("a number"));
    return ir::Attribute(value);
  }
  OCTAVO_TRY(const int64_t value, TakeInt("an integer"));
  return ir::Attribute(value);
}

Result<ir::Attribute> Parser::ParseAttributeList(const ir::AttrSpec* spec) {
  const int line = token_.line;
  Advance();
  std::vector<std::string> items;
  bool strings = false, floats = false;
  OCTAVO_CHECK(List("]", [&]() -> Status {
    if (token_.kind != TokenKind::kWord && token_.kind != TokenKind::kString) {
      return Unexpected("a number or a string");
    }
    strings |= token_.kind == TokenKind::kString;
    floats |= token_.kind == TokenKind::kWord && LooksLikeFloat(token_.text);
    items.push_back(std::move(token_.text));
    Advance();
    return {};
  }));
  if (AtSign(":")) return TensorAttribute({.numbers = std::move(items), .line = line});
  if (strings || (spec && spec->kind == ir::AttrKind::kStrings)) return ir::Attribute(items);
  if (floats || (spec && spec->kind == ir::AttrKind::kFloats)) {
    std::vector<float> values(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (!ParseFloat(items[i], values[i])) return Wrong(line, "'{}' is not a number", items[i]);
    }
    return ir::Attribute(std::move(values));
  }
  std::vector<int64_t> values(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!ParseInt(items[i], values[i])) return Wrong(line, "'{}' is not an integer", items[i]);
  }
  return ir::Attribute(std::move(values));
}

}  // namespace octavo::text
