// SPDX-License-Identifier: Apache-2.0
// The statements of a text graph.
#include "core/text/parse.h"

#include "core/ir/verify.h"
#include "core/text/parser.h"

namespace octavo::text {
namespace {

constexpr std::string_view kOnnxDomain = "ai.onnx";  // "" in the IR

}  // namespace

bool IsGraph(std::string_view text) {
  const Token first = Lexer(text).Next();
  return first.kind == TokenKind::kWord && first.text == "graph";
}

Result<ir::Graph> Parse(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).Run();
}

Result<ir::Graph> Parser::Run() {
  OCTAVO_CHECK(ParseHeader());
  OCTAVO_CHECK(ParseBody());
  if (token_.kind != TokenKind::kEnd) return Unexpected("the end of the text");
  OCTAVO_CHECK(Finish());
  return std::move(graph_);
}

// ---------------------------------------------------------------- names

Result<ir::ValueId> Parser::TakeValue() {
  const int line = token_.line;
  OCTAVO_TRY(const std::string name, Take(TokenKind::kName, "a value"));
  const ir::ValueId id = graph_.Find(name);
  if (!id) return Wrong(line, "'{}' is not defined above", name);
  return id;
}

Result<std::string> Parser::TakeNewName() {
  const int line = token_.line;
  OCTAVO_TRY(std::string name, Take(TokenKind::kName, "a name"));
  if (name.empty()) return Wrong(line, "a name must not be empty");
  if (graph_.Find(name)) return Wrong(line, "'{}' is defined twice", name);
  return name;
}

void Parser::Declare(ir::ValueId id, const TypeText& type) {
  declared_.push_back({id, type.quantized, type.line});
}

// ---------------------------------------------------------------- header

// 'graph' ('@"' name '"')? '(' (name ':' type),* ')' '->' '(' name,* ')' opsets? '{'
Status Parser::ParseHeader() {
  if (!AcceptWord("graph")) return Unexpected("'graph'");
  if (AcceptSign("@")) {
    OCTAVO_TRY(graph_.graph_name, Take(TokenKind::kString, "the graph's name in quotes"));
  }
  OCTAVO_CHECK(ExpectSign("("));
  OCTAVO_CHECK(List(")", [&]() -> Status {
    OCTAVO_TRY(std::string name, TakeNewName());
    OCTAVO_CHECK(ExpectSign(":"));
    OCTAVO_TRY(TypeText type, ParseType());
    Declare(graph_.AddInput(std::move(name), type.type), type);
    return {};
  }));
  OCTAVO_CHECK(ExpectSign("->"));
  OCTAVO_CHECK(ExpectSign("("));
  OCTAVO_CHECK(List(")", [&]() -> Status {
    const int line = token_.line;
    OCTAVO_TRY(std::string name, Take(TokenKind::kName, "a name"));
    outputs_.emplace_back(std::move(name), line);
    return {};
  }));
  if (AtWord("opset")) OCTAVO_CHECK(ParseOpsets());
  return ExpectSign("{");
}

Status Parser::ParseOpsets() {
  Advance();
  OCTAVO_CHECK(ExpectSign("("));
  return List(")", [&]() -> Status {
    const TokenKind kind =
        token_.kind == TokenKind::kString ? TokenKind::kString : TokenKind::kWord;
    OCTAVO_TRY(std::string domain, Take(kind, "a domain"));
    if (domain == kOnnxDomain) domain.clear();
    OCTAVO_CHECK(ExpectSign(":"));
    OCTAVO_TRY(graph_.opsets[domain], TakeInt("a version"));
    return {};
  });
}

// ---------------------------------------------------------------- body

Status Parser::ParseBody() {
  while (!AcceptSign("}")) {
    if (token_.kind == TokenKind::kEnd) return Unexpected("'}'");
    OCTAVO_CHECK(ParseStatement());
  }
  return {};
}

Status Parser::ParseStatement() {
  if (token_.kind == TokenKind::kName) return ParseNode();
  if (AcceptWord("const")) return ParseConstant();
  if (AcceptWord("scales")) return ParseLateScales();
  if (AcceptWord("zps")) return ParseLateZeroPoints();
  if (AcceptWord("alias")) return ParseAlias();
  if (AcceptWord("retired")) return ParseRetired();
  if (AcceptWord("metadata")) return ParseMetadata();
  return Unexpected("a statement");
}

// 'const' name '=' elements ':' type
Status Parser::ParseConstant() {
  OCTAVO_TRY(std::string name, TakeNewName());
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(const PayloadText payload, ParsePayload());
  OCTAVO_CHECK(ExpectSign(":"));
  OCTAVO_TRY(TypeText type, ParseType());
  OCTAVO_TRY(ir::PayloadPtr made, MakePayload(payload, type.type));
  Declare(graph_.AddConstant(std::move(name), std::move(made), type.type), type);
  return {};
}

// name,+ '=' Op ('@"' node name '"')? '(' name,* ')' ('{' attributes '}')? ':' type,+
Status Parser::ParseNode() {
  const int line = token_.line;
  ir::Graph::Definition definition;
  do {
    OCTAVO_TRY(std::string name, TakeNewName());
    for (const auto& [other, type] : definition.results) {
      if (other == name) return Wrong(line, "'{}' is defined twice", name);
    }
    definition.results.emplace_back(std::move(name), ir::Type{});
  } while (AcceptSign(","));
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(definition.op, ParseOp());
  definition.name = definition.results[0].first;
  if (AcceptSign("@")) {
    OCTAVO_TRY(definition.name, Take(TokenKind::kString, "the node's name in quotes"));
  }
  OCTAVO_TRY(definition.inputs, ParseOperands());
  if (AcceptSign("{")) OCTAVO_CHECK(ParseAttributes(*definition.op, definition.attributes));
  OCTAVO_CHECK(ExpectSign(":"));
  std::vector<TypeText> types;
  do {
    OCTAVO_TRY(TypeText type, ParseType());
    types.push_back(std::move(type));
  } while (AcceptSign(","));
  if (types.size() != definition.results.size()) {
    return Wrong(line, "{} results but {} types", definition.results.size(), types.size());
  }
  for (size_t i = 0; i < types.size(); ++i) definition.results[i].second = types[i].type;
  if (!node_lines_.emplace(definition.name, line).second) {
    return Wrong(line, "two nodes are named '{}'", definition.name);
  }
  const ir::NodeId id = graph_.AddNode(std::move(definition));
  for (size_t i = 0; i < types.size(); ++i) Declare(graph_.node(id).results[i], types[i]);
  return CheckNode(id, line);
}

// An op name without a dot is ONNX's or Octavo's own; `com.microsoft.Gelu` includes its domain.
Result<const ir::OpDef*> Parser::ParseOp() {
  const int line = token_.line;
  OCTAVO_TRY(const std::string word, Take(TokenKind::kWord, "an op"));
  const size_t dot = word.rfind('.');
  const ir::OpDef* op = nullptr;
  if (dot != std::string::npos) {
    op = options_.find_op(std::string_view(word).substr(dot + 1),
                          std::string_view(word).substr(0, dot));
  } else {
    op = options_.find_op(word, "");
    if (op == nullptr) op = options_.find_op(word, "octavo");
  }
  if (op == nullptr) return Fail(Code::kUnimplemented, "line {}: unknown op '{}'", line, word);
  return op;
}

Result<std::vector<ir::ValueId>> Parser::ParseOperands() {
  std::vector<ir::ValueId> operands;
  OCTAVO_CHECK(ExpectSign("("));
  OCTAVO_CHECK(List(")", [&]() -> Status {
    if (AcceptWord("_")) {
      operands.push_back({});
      return {};
    }
    OCTAVO_TRY(const ir::ValueId id, TakeValue());
    operands.push_back(id);
    return {};
  }));
  return operands;
}

Status Parser::CheckNode(ir::NodeId id, int line) {
  const ir::Node& node = graph_.node(id);
  const auto types = inference_.Infer(id);
  if (!types) {
    return Fail(types.error().code, "line {}: {}", line, types.error().message)
        .Node(node.name)
        .Field(types.error().field);
  }
  for (size_t i = 0; i < types->size(); ++i) {
    const ir::Value& value = graph_.value(node.results[i]);
    if (value.type.Expressed() != (*types)[i]) {
      return Wrong(line, "'{}' is {}, but {} makes {}", value.name, ToString(value.type),
                   node.op->name, ToString((*types)[i]))
          .Node(node.name);
    }
  }
  inference_.Learn(id);
  return {};
}

// ---------------------------------------------------------------- other statements

// 'scales' name '=' '[' float,* ']'
Status Parser::ParseLateScales() {
  const int line = token_.line;
  OCTAVO_TRY(const ir::ValueId id, TakeValue());
  OCTAVO_CHECK(ExpectSign("="));
  ir::Type type = graph_.type(id);
  if (!type.quant || !type.quant->scales.empty()) {
    return Wrong(line, "'{}' has no empty list of scales", graph_.name(id));
  }
  OCTAVO_TRY(type.quant->scales, ParseScales());
  OCTAVO_CHECK(Settle(type, line));
  graph_.SetType(id, std::move(type));
  return {};
}

// 'zps' name '=' '[' int,* ']'
Status Parser::ParseLateZeroPoints() {
  const int line = token_.line;
  OCTAVO_TRY(const ir::ValueId id, TakeValue());
  OCTAVO_CHECK(ExpectSign("="));
  ir::Type type = graph_.type(id);
  if (!type.quant || !type.quant->zero_points.empty()) {
    return Wrong(line, "'{}' has no empty list of zero points", graph_.name(id));
  }
  OCTAVO_TRY(type.quant->zero_points, ParseZeroPoints());
  OCTAVO_CHECK(Settle(type, line));
  graph_.SetType(id, std::move(type));
  return {};
}

// 'alias' name '=' name
Status Parser::ParseAlias() {
  OCTAVO_TRY(std::string alias, TakeNewName());
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(const ir::ValueId id, TakeValue());
  graph_.AddAlias(std::move(alias), id);
  return {};
}

// 'retired' name,+
Status Parser::ParseRetired() {
  do {
    OCTAVO_TRY(std::string name, TakeNewName());
    graph_.AddRetired(std::move(name));
  } while (AcceptSign(","));
  return {};
}

// 'metadata' string '=' string
Status Parser::ParseMetadata() {
  const int line = token_.line;
  OCTAVO_TRY(std::string key, Take(TokenKind::kString, "a key in quotes"));
  OCTAVO_CHECK(ExpectSign("="));
  OCTAVO_TRY(std::string value, Take(TokenKind::kString, "a value in quotes"));
  if (!graph_.metadata.emplace(key, std::move(value)).second) {
    return Wrong(line, "metadata '{}' is given twice", key);
  }
  return {};
}

// ---------------------------------------------------------------- the end

Status Parser::Finish() {
  for (const auto& [name, line] : outputs_) {
    const ir::ValueId id = graph_.Find(name);
    if (!id) return Wrong(line, "output '{}' is not defined", name);
    graph_.AddOutput(id);
  }
  for (const Declared& declared : declared_) {
    if (!declared.quantized) continue;
    const ir::Value& value = graph_.value(declared.id);
    if (value.type.quant->scales.empty() || value.type.quant->zero_points.empty()) {
      return Wrong(declared.line, "'{}' is left without scales or zero points", value.name);
    }
    if (const Status quant = ir::CheckQuant(value.name, value.type); !quant) {
      return Wrong(declared.line, "{}", quant.error().message).Field(value.name);
    }
  }
  if (const Status verified = ir::Verify(graph_); !verified) {
    const auto at = node_lines_.find(verified.error().node);
    if (at == node_lines_.end()) {
      return Fail(Code::kInvalidArgument, "{}", verified.error().message);
    }
    return Wrong(at->second, "{}", verified.error().message).Node(verified.error().node);
  }
  graph_.SetVerified();
  return {};
}

}  // namespace octavo::text
