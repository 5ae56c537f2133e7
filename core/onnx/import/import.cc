// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/import.h"

#include <algorithm>

#include "core/ir/qdq_notes.h"
#include "core/ir/verify.h"
#include "core/onnx/import/bind_inputs.h"
#include "core/onnx/import/check_constants.h"
#include "core/onnx/import/graph_builder.h"
#include "core/onnx/import/importer.h"
#include "core/onnx/import/node_reader.h"
#include "core/onnx/import/quant_inputs.h"
#include "core/onnx/import/quantized_ops.h"
#include "core/onnx/import/sums_in_double.h"
#include "core/onnx/versions/version_table.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {
namespace {

using ir::ValueId;

// ai.onnx is another name for the default domain.
std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Inputs that import turns into constants because their elements determine types.
using FixedInputs = std::map<std::string, ir::Tensor>;

class Importer {
 public:
  // `refused` collects nodes that no graph holds; null: the first is an error.  `fixing`: a value
  // that depends on data is an error, for FixInputsBehind.
  Importer(const ModelProto& proto, const ImportOptions& options, const FixedInputs& fixed,
           bool fixing, std::vector<Refused>* refused)
      : model_(proto.model),
        source_{proto.views, options.external},
        options_(options),
        fixed_(fixed),
        fixing_(fixing),
        refused_(refused),
        own_(proto.model.producer_name() == kProducer),
        builder_(graph_, options.find_op, own_),
        sums_(model_.graph(), own_) {}

  Result<Imported> Run() {
    OCTAVO_CHECK(CheckVersions());
    OCTAVO_CHECK(AddConstantsAndInputs());
    NameValues();
    OCTAVO_TRY(const std::vector<int> order, SortNodes(model_.graph(), node_names_, known_));
    for (const int i : order) OCTAVO_CHECK(refused_ == nullptr ? AddNode(i) : AddOrRefuse(i));
    if (refused_ != nullptr && !refused_->empty()) return std::move(result_);
    OCTAVO_CHECK(AddOutputs());
    OCTAVO_CHECK(CheckConstants(
        graph_, [&](const std::string& name) { return fixed_.contains(name); },
        !options_.taken_names.empty()));
    NoteWriter();
    OCTAVO_CHECK(ir::Verify(graph_));
    graph_.SetVerified();
    result_.graph = std::move(graph_);
    result_.warnings = std::move(builder_.warnings());
    return std::move(result_);
  }

  // Call after Run() failed because a value depends on data: adds the graph inputs behind the
  // value, with their elements, to `fixed`.  Returns whether it added any, so that a retry can
  // succeed.
  Result<bool> FixInputsBehind(const Error& error, FixedInputs& fixed) const {
    if (!MayFix(error)) return false;
    const ValueId value = graph_.Find(error.field);
    bool more = false;
    for (const ValueId input : InputsBehind(graph_, value)) {
      const std::string& name = graph_.name(input);
      OCTAVO_TRY(std::optional<ir::Tensor> elements, options_.value_of(name, graph_.type(input)));
      if (!elements) return false;
      fixed.insert_or_assign(name, std::move(*elements));
      more = true;
    }
    return more;
  }

 private:
  Status CheckVersions() {
    result_.ir_version = model_.ir_version();
    result_.producer = model_.producer_name();
    if (result_.ir_version > kNewestIrVersion) {
      return Fail(Code::kUnimplemented, "IR version {} is newer than {}", result_.ir_version,
                  kNewestIrVersion)
          .Field("ir_version");
    }
    if (model_.graph().sparse_initializer_size() > 0) {
      return Fail(Code::kUnimplemented, "sparse initializers are not supported")
          .Field("sparse_initializer");
    }
    for (const onnx_wire::OperatorSet& opset : model_.opset_import()) {
      if (!graph_.opsets.emplace(DomainOf(opset.domain()), opset.version()).second) {
        return Fail(Code::kInvalidArgument, "opset_import lists domain '{}' twice", opset.domain())
            .Field("opset_import");
      }
    }
    const auto is_own = [](const auto& node) { return DomainOf(node.domain()).empty(); };
    const bool own_operators = std::ranges::any_of(model_.graph().node(), is_own);
    if (!own_operators) graph_.opsets.emplace("", kNewestOpset);
    if (!graph_.opsets.count("")) {
      return Fail(Code::kInvalidArgument, "the model does not say which opset it uses")
          .Field("opset_import");
    }
    result_.opset = graph_.opsets[""];
    if (result_.opset < kOldestOpset || result_.opset > kNewestOpset) {
      return Fail(Code::kUnimplemented, "opset {} is outside of {} to {}", result_.opset,
                  kOldestOpset, kNewestOpset)
          .Field("opset_import");
    }
    if (model_.graph().name() != kNoName) graph_.graph_name = model_.graph().name();
    for (const onnx_wire::StringEntry& entry : model_.metadata_props()) {
      graph_.metadata[entry.key()] = entry.value();
    }
    return {};
  }

  Failure DefinedTwice(const std::string& name) const {
    return Fail(Code::kInvalidArgument, "value '{}' is defined twice", name)
        .Field(name)
        .Reason("DEFINED_TWICE");
  }

  Status AddConstantsAndInputs() {
    const onnx_wire::Graph& graph = model_.graph();
    for (const onnx_wire::Tensor& initializer : graph.initializer()) {
      if (initializer.name().empty()) {
        return Fail(Code::kInvalidArgument, "an initializer has no name").Field("initializer");
      }
      if (!known_.insert(initializer.name()).second) return DefinedTwice(initializer.name());
    }
    std::vector<const onnx_wire::ValueInfo*> infos;
    std::unordered_set<std::string> listed;
    for (const onnx_wire::ValueInfo& info : graph.input()) {
      if (!listed.insert(info.name()).second) return DefinedTwice(info.name());
      // Before IR version 4, models list every initializer as an input too; here it is a constant.
      if (known_.insert(info.name()).second) infos.push_back(&info);
    }
    OCTAVO_TRY(BoundInputs bound, BindInputs(infos, options_));
    for (size_t i = 0; i < infos.size(); ++i) {
      if (const auto at = fixed_.find(infos[i]->name()); at != fixed_.end()) {
        graph_.AddConstant(at->first, at->second);
        result_.fixed_inputs.push_back(at->first);
        continue;
      }
      graph_.AddInput(infos[i]->name(), {bound.signatures[i].dtype, bound.shapes[i], {}, {}});
      result_.inputs.push_back(std::move(bound.signatures[i]));
    }
    result_.batch = bound.batch;
    for (const onnx_wire::Tensor& initializer : graph.initializer()) {
      OCTAVO_TRY(ir::Tensor tensor, ReadTensor(initializer, source_));
      graph_.AddConstant(initializer.name(), std::move(tensor));
      if (IsFourBit(initializer.data_type())) builder_.NoteFourBit(initializer.name());
    }
    return {};
  }

  // Settles node names, and keeps names that conversions create distinct from the model's.
  void NameValues() {
    node_names_ = SettleNames(model_.graph());
    result_.contract = ReadContract(model_, node_names_);
    for (const std::string& name : node_names_) builder_.ReserveNode(name);
    for (const std::string& name : options_.taken_names) builder_.Reserve(name);
    for (const onnx_wire::ValueInfo& output : model_.graph().output()) {
      read_.insert(output.name());
      builder_.NoteOutput(output.name());
    }
    for (const onnx_wire::Node& node : model_.graph().node()) {
      ++result_.ops[node.op_type()];
      for (const std::string& output : node.output()) builder_.Reserve(output);
      read_.insert(node.input().begin(), node.input().end());
      for (int i = DequantizesBlocks(node) ? 1 : 0; i < node.input_size(); ++i) {
        builder_.NoteRead(node.input(i));
      }
    }
    result_.nodes = model_.graph().node_size();
  }

  static bool DequantizesBlocks(const onnx_wire::Node& node) {
    return node.op_type() == "DequantizeLinear" &&
           std::ranges::any_of(node.attribute(), [](const onnx_wire::Attribute& attribute) {
             return attribute.name() == "block_size" && attribute.i() != 0;
           });
  }

  // Drops trailing optional results without consumers, except those of a Split: their number
  // counts.
  void DropUnreadResults(Draft& draft) const {
    const ir::OpDef* op = ops::FindOp(draft.op, draft.domain);
    if (op && op->results.max == ir::kManyInputs) return;
    const size_t least = op ? std::max(1, op->results.min) : 1;
    std::vector<std::string>& outputs = draft.outputs;
    while (outputs.size() > least && !read_.count(outputs.back())) outputs.pop_back();
  }

  // Whether a Cast converts quantized values to their own type; such a Cast keeps the parameters.
  bool CastsToItsOwnType(const Draft& draft) const {
    if (draft.op != "Cast" || !draft.Has(0)) return false;
    return WireOf(graph_.type(draft.inputs[0].value).dtype) == draft.attributes.Int("to", 0);
  }

  // Whether the node is an Identity of a constant: it only gives the tensor a second name.
  bool IsOtherName(const Draft& draft) const {
    if (!draft.domain.empty() || draft.op != "Identity" || !draft.Has(0)) return false;
    const ValueId source = draft.inputs[0].value;
    return graph_.IsConstant(source) && graph_.type(source).dtype == ir::DType::kF32;
  }

  // Skips what an export writes in front of QuantizeLinear for a runtime that would fuse the
  // operator, or quantizes NaN differently (core/onnx/export/quirks.h): a Max of one operand, or
  // Where(IsNaN(x), 0, x).  QuantizeLinear of the operand gives the same.
  bool SkipGuard(const onnx_wire::Node& node) {
    if (!own_ || node.output_size() != 1 || node.input_size() == 0) return false;
    const std::string &name = node.output(0), &operand = node.input(node.input_size() - 1);
    const bool is_nan = node.op_type() == "IsNaN" && name.ends_with(kIsNanSuffix);
    const bool is_guard = name.ends_with(kGuardSuffix);
    const bool is_max = is_guard && node.op_type() == "Max" && node.input_size() == 1;
    const bool is_where = is_guard && node.op_type() == "Where" && node.input_size() == 3 &&
                          ValueNamed(node.input(0)) == ValueNamed(operand);
    const ValueId value = ValueNamed(operand);
    if (!value || !(is_nan || is_max || is_where)) return false;
    guards_[name] = value;
    graph_.AddAlias(name, value);
    return true;
  }

  bool SkipCastOfSum(int i) {
    const SumsInDouble::Part part = sums_.PartOf(i);
    if (part == SumsInDouble::Part::kOperand) {
      const onnx_wire::Node& cast = model_.graph().node(i);
      guards_[cast.output(0)] = ValueNamed(cast.input(0));
    }
    return part == SumsInDouble::Part::kOperand || part == SumsInDouble::Part::kResult;
  }

  // The value of a name, or the one that a guard of that name stands for.
  ValueId ValueNamed(const std::string& name) const {
    const auto guard = guards_.find(name);
    return guard == guards_.end() ? graph_.Find(name) : guard->second;
  }

  Status AddNode(int i) {
    const onnx_wire::Node& node = model_.graph().node(i);
    if (SkipGuard(node) || SkipCastOfSum(i)) return {};
    Conversion conversion;
    Draft& draft = conversion.node;
    draft.name = node_names_[static_cast<size_t>(i)];
    draft.op = node.op_type();
    draft.domain = DomainOf(node.domain());
    OCTAVO_TRY(draft.attributes, ReadAttributes(node, draft.name, source_));
    if (result_.opset < 6) draft.attributes.Erase("consumed_inputs");  // a hint for reusing memory
    for (const std::string& input : node.input()) {
      draft.inputs.push_back(input.empty() ? Operand{} : Operand::Of(ValueNamed(input)));
    }
    draft.outputs.assign(node.output().begin(), node.output().end());
    if (sums_.PartOf(i) == SumsInDouble::Part::kSum) draft.outputs.front() = sums_.ResultOf(i);
    DropUnreadResults(draft);
    if (draft.outputs.empty()) return Invalid(draft, "has no output");
    if (draft.outputs.front().empty()) {
      draft.outputs.front() = builder_.Fresh(draft.name + ".unread");
    }
    draft.DropAbsentTail();
    if (draft.domain.empty() && draft.op == "Constant") {
      OCTAVO_TRY(ir::Tensor tensor, ConstantValue(draft));
      graph_.AddConstant(draft.outputs[0], std::move(tensor));
      if (IsFourBit(node.attribute(0).t().data_type())) builder_.NoteFourBit(draft.outputs[0]);
      return {};
    }
    if (IsOtherName(draft)) {
      const ir::Value source = graph_.value(draft.inputs[0].value);
      graph_.AddConstant(draft.outputs[0], source.constant, source.type);
      return {};
    }
    if (const QuantizedOp build = FindQuantizedOp(draft.op, draft.domain)) {
      return build(builder_, draft);
    }
    if (!draft.domain.empty()) return builder_.Add(conversion);
    if (CastsToItsOwnType(draft)) {
      draft.op = "Identity";
      draft.attributes = {};
    }
    OCTAVO_CHECK(UpgradeToNewest(graph_, result_.opset, conversion));
    return builder_.Add(conversion);
  }

  Status AddOrRefuse(int i) {
    const onnx_wire::Node& node = model_.graph().node(i);
    const auto is_lost = [&](const std::string& input) { return lost_.contains(input); };
    Status added;
    if (std::ranges::none_of(node.input(), is_lost)) {
      added = AddNode(i);
      if (added || added.error().code != Code::kUnimplemented) return added;
      if (fixing_ && MayFix(added.error())) return added;
      refused_->push_back({node_names_[static_cast<size_t>(i)], std::move(added).error()});
    }
    lost_.insert(node.output().begin(), node.output().end());
    lost_.erase("");
    return {};
  }

  // Whether the error is of a value that depends on data.
  bool MayFix(const Error& error) const {
    const bool depends = error.reason == ir::kDependsOnData || error.reason == kDynamicQuantization;
    return depends && options_.value_of && graph_.Find(error.field);
  }

  // Tells the pass fold-qdq which program wrote the model.  An existing note came from a graph that
  // was exported before the pass ran, and stays.
  void NoteWriter() {
    graph_.metadata.emplace(ir::kQdqWriterKey, own_ ? ir::kQdqWriterOctavo : ir::kQdqWriterOther);
  }

  Status AddOutputs() {
    if (model_.graph().output().empty() && options_.taken_names.empty()) {
      return Fail(Code::kInvalidArgument, "the model has no output").Field("output");
    }
    for (const onnx_wire::ValueInfo& info : model_.graph().output()) {
      const ValueId value = graph_.Find(info.name());
      if (!value) {
        return Fail(Code::kInvalidArgument, "output '{}' is computed by no node", info.name())
            .Field(info.name())
            .Reason("UNDEFINED_VALUE");
      }
      graph_.AddOutput(value);
      OutputSignature output{.name = info.name()};
      OCTAVO_TRY(output.declared, DeclaredShape(info));
      const ir::Shape& shape = graph_.type(value).shape;
      output.batched = !shape.empty() && shape[0] == result_.batch;
      result_.outputs.push_back(std::move(output));
    }
    return {};
  }

  const onnx_wire::Model& model_;
  TensorSource source_;
  const ImportOptions& options_;
  const FixedInputs& fixed_;
  const bool fixing_;
  std::vector<Refused>* const refused_;
  const bool own_;  // Octavo wrote the model
  ir::Graph graph_;
  GraphBuilder builder_;
  Imported result_;
  std::unordered_set<std::string> known_, read_, lost_;
  std::vector<std::string> node_names_;
  std::unordered_map<std::string, ValueId> guards_;
  const SumsInDouble sums_;
};

}  // namespace

// Terminates: each round but one fixes at least one more input.
Result<Imported> ImportParsed(const ModelProto& proto, const ImportOptions& options,
                              std::vector<Refused>* refused) {
  FixedInputs fixed;
  for (bool fixing = true; true;) {
    if (refused != nullptr) refused->clear();
    Importer importer(proto, options, fixed, fixing, refused);
    Result<Imported> imported = importer.Run();
    if (imported) return imported;
    Result<bool> more = importer.FixInputsBehind(imported.error(), fixed);
    if (more && *more) continue;
    // A value that the samples do not fix is left to the opaque part.
    const bool unsupported = imported.error().code == Code::kUnimplemented;
    if (!std::exchange(fixing, false) || refused == nullptr || !unsupported) {
      if (!more) return Forward(std::move(more).error());
      return imported;
    }
  }
}

}  // namespace octavo::onnx
