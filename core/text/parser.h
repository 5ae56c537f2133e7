// SPDX-License-Identifier: Apache-2.0
// The state of parsing one text: a recursive descent parser.  The grammar bounds its depth, so no
// text can exhaust the stack.  parser.cc parses tokens, types and attributes; parse.cc the
// statements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ir/infer.h"
#include "core/text/lexer.h"
#include "core/text/parse.h"

namespace octavo::text {

// A type as written in the text.  If the list of scales or zero points is empty, a later `scales`
// or `zps` statement supplies it.
struct TypeText {
  ir::Type type = {};
  bool quantized = false;
  int line = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options)
      : options_(options), lexer_(text), token_(lexer_.Next()), inference_(graph_) {}
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Result<ir::Graph> Run();

 private:
  // ---------------------------------------------------------- tokens
  template <class... Args>
  Failure Wrong(int line, fmt::format_string<Args...> format, Args&&... args) const {
    return Fail(Code::kInvalidArgument, "line {}: {}", line,
                fmt::format(format, std::forward<Args>(args)...));
  }
  // "line 3: expected a name, but found ')'".
  Failure Unexpected(std::string_view expected) const;
  void Advance() { token_ = lexer_.Next(); }
  bool AtSign(std::string_view sign) const {
    return token_.kind == TokenKind::kSign && token_.text == sign;
  }
  bool AtWord(std::string_view word) const {
    return token_.kind == TokenKind::kWord && token_.text == word;
  }
  bool AcceptSign(std::string_view sign);
  bool AcceptWord(std::string_view word);
  Status ExpectSign(std::string_view sign);
  Result<std::string> Take(TokenKind kind, std::string_view what);
  Result<int64_t> TakeInt(std::string_view what);
  Result<float> TakeFloat(std::string_view what);
  // Calls `item` for each element of a comma-separated list and consumes the closing sign `close`.
  template <class Item>
  Status List(std::string_view close, Item item);
  // Counts bytes that the text creates without spelling them out.
  Status Spend(int64_t count, int64_t size, int line);

  // ---------------------------------------------------------- types, constant data, attributes
  Result<TypeText> ParseType();
  Status ParseShape(std::string_view word, TypeText& result);
  Status ParseQuant(TypeText& result);
  Status ParseRange(ir::Type& type);
  Result<std::vector<float>> ParseScales();
  Result<std::vector<int32_t>> ParseZeroPoints();
  // Repeats single parameters along the axis and checks that both lists have the same length.
  Status Settle(ir::Type& type, int line);
  Result<std::vector<std::string>> ParseNumbers();  // '[' number,* ']'
  // Constant data whose type is not known yet, because the type follows after ':'; creates the
  // elements.
  struct PayloadText {
    enum class Kind { kLiteral, kSplat, kRandom, kData } kind = Kind::kLiteral;
    std::vector<std::string> numbers = {};  // for kLiteral; a single number for kSplat
    uint64_t seed = 0;
    std::string digest = {};
    int64_t bytes = 0;
    int line = 0;
  };
  bool AtPayloadWord() const { return AtWord("splat") || AtWord("random") || AtWord("data"); }
  Result<PayloadText> ParsePayload();
  Result<ir::PayloadPtr> MakePayload(const PayloadText& text, const ir::Type& type);
  Status ParseAttributes(const ir::OpDef& op, ir::AttrMap& attributes);
  Result<ir::Attribute> ParseAttribute(const ir::AttrSpec* spec);
  Result<ir::Attribute> ParseAttributeList(const ir::AttrSpec* spec);
  Result<ir::Attribute> TensorAttribute(const PayloadText& payload);

  // ---------------------------------------------------------- statements
  Status ParseHeader();
  Status ParseOpsets();
  Status ParseBody();
  Status ParseStatement();
  Status ParseConstant();
  Status ParseNode();
  Result<const ir::OpDef*> ParseOp();
  Result<std::vector<ir::ValueId>> ParseOperands();
  Status CheckNode(ir::NodeId id, int line);
  Status ParseLateScales();
  Status ParseLateZeroPoints();
  Status ParseAlias();
  Status ParseRetired();
  Status ParseMetadata();
  // Parses the name of a value that is already defined.
  Result<ir::ValueId> TakeValue();
  Result<std::string> TakeNewName();
  void Declare(ir::ValueId id, const TypeText& type);
  Status Finish();

  const ParseOptions& options_;
  Lexer lexer_;
  Token token_;
  int64_t spent_ = 0;

  ir::Graph graph_;
  ir::Inference inference_;
  std::vector<std::pair<std::string, int>> outputs_;  // with their line numbers
  struct Declared {
    ir::ValueId id;
    bool quantized = false;
    int line = 0;
  };
  std::vector<Declared> declared_;
  std::map<std::string, int> node_lines_;
};

template <class Item>
Status Parser::List(std::string_view close, Item item) {
  if (AcceptSign(close)) return {};
  while (true) {
    OCTAVO_CHECK(item());
    if (AcceptSign(close)) return {};
    if (!AcceptSign(",")) return Unexpected(fmt::format("',' or '{}'", close));
  }
}

}  // namespace octavo::text
