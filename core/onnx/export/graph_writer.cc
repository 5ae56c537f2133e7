// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/graph_writer.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/ir/blocks.h"
#include "core/ir/output_channels.h"
#include "core/ir/qdq_notes.h"
#include "core/onnx/export/local_types.h"
#include "core/onnx/export/put_back.h"
#include "core/onnx/versions/version_table.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

using ir::NodeId;
using ir::ValueId;
using target::QuirkRemedy;
using Named = ModelWriter::Named;

GraphWriter::GraphWriter(const ir::Graph& graph, const ExportOptions& options, int64_t opset,
                         ModelWriter& writer)
    : graph_(graph),
      options_(options),
      opset_(opset),
      writer_(writer),
      names_(graph),
      quantize_(ops::FindOp("Quantize", "octavo")),
      dequantize_(ops::FindOp("Dequantize", "octavo")),
      rescale_(ops::FindOp("Rescale", "octavo")),
      reinterpret_(ops::FindOp("Reinterpret", "octavo")),
      quirks_(graph, options.quirks, opset) {
  if (options.contract == nullptr || !options.contract->opaque) return;
  for (const std::string& name : NamesIn(*options.contract->opaque)) names_.Reserve(name);
}

Result<std::optional<NeedsOpset>> GraphWriter::Run() {
  for (const NodeId id : graph_.nodes()) OCTAVO_CHECK(WriteNode(id));
  for (const ValueId output : graph_.outputs()) {
    const ir::Value& value = graph_.value(output);
    if (value.constant) writer_.Initializer(value.name, value.constant->tensor, Named::kValue);
  }
  NoteNames(ir::kPendingBiasKey, pending_);
  NoteNames(ir::kFloatBiasKey, float_biases_);
  NoteNames(ir::kKeptFloatKey, options_.kept_float);
  NoteNames(ir::kFloatResultKey, float_results_);
  NoteNames(ir::kWrittenOutKey, written_out_);
  return needs_;
}

void GraphWriter::NoteNames(const std::string& key, const std::vector<std::string>& names) {
  if (names.empty()) return;
  onnx_wire::StringEntry& entry = *writer_.model().add_metadata_props();
  entry.set_key(key);
  entry.set_value(nlohmann::json(names).dump());
}

void GraphWriter::Need(int64_t opset, NodeId id) {
  if (opset <= opset_ || (needs_ && needs_->opset >= opset)) return;
  needs_ = NeedsOpset{opset, graph_.node(id).name, std::string(graph_.node(id).op->name)};
}

void GraphWriter::NeedForQuant(const ir::Type& type, std::string_view name) {
  const bool wide = ir::SizeOf(type.dtype) == 2;
  const int64_t opset = wide || type.blocked() ? 21 : type.quant->axis ? 13 : 10;
  if (opset <= opset_ || (needs_ && needs_->opset >= opset)) return;
  needs_ =
      NeedsOpset{opset, std::string(name), type.blocked() ? "DequantizeLinear" : "QuantizeLinear"};
}

// ---------------------------------------------------------------- values

bool GraphWriter::IsPendingBias(ValueId value) const {
  const ir::Node* producer = graph_.Producer(value);
  return producer && producer->op == quantize_ && graph_.type(value).dtype == ir::DType::kI32 &&
         graph_.IsConstant(producer->input(0));
}

bool GraphWriter::IsFloatBias(const ir::Node& node, size_t input) const {
  const ValueId value = node.inputs[input];
  return value && node.op->RoleOf(input) == ir::Role::kBias && graph_.IsConstant(value) &&
         !graph_.type(value).quantized() && graph_.type(node.input(0)).quantized();
}

std::string GraphWriter::Read(ValueId value) {
  if (!value) return "";
  const ir::Value& it = graph_.value(value);
  if (it.type.quantized()) return Dequantized(value);
  if (it.constant) writer_.Initializer(it.name, it.constant->tensor, Named::kValue);
  // The DequantizeLinear of the quantized operand computes the same value.
  const ir::Node* producer = graph_.Producer(value);
  if (producer && producer->op == dequantize_) {
    if (it.output_uses == 0) return Dequantized(producer->input(0));
    WriteDequantize(it.producer);
  }
  return it.name;
}

std::string GraphWriter::Quantized(ValueId value) {
  const ir::Node* producer = graph_.Producer(value);
  if (producer && producer->op == reinterpret_) {
    const ir::Value& plain = graph_.value(producer->input(0));
    if (plain.constant) writer_.Initializer(plain.name, plain.constant->tensor, Named::kInternal);
    return plain.name;
  }
  const QuantizedNames& names = names_.Of(value);
  if (const ir::PayloadPtr& constant = graph_.value(value).constant) {
    writer_.Initializer(names.integers, constant->tensor, Named::kInternal);
  }
  return names.integers;
}

std::vector<std::string> GraphWriter::Parameters(ValueId value) {
  const ir::Type& type = graph_.type(value);
  const QuantizedNames& names = names_.Of(value);
  NeedForQuant(type, graph_.name(value));
  const ir::Quant& quant = *type.quant;
  const ir::Shape shape = ir::ScaleShape(quant, type.shape);
  writer_.Initializer(names.scale, ir::Tensor::Of<float>(shape, quant.scales), Named::kInternal);
  // The zero point of an int32 is always 0, and ONNX does not store it.
  if (type.dtype == ir::DType::kI32) return {names.scale};
  // Absent zero points are 0, which saves half a byte per block.  QuantizeLinear needs their type.
  const bool zero = std::ranges::all_of(quant.zero_points, [](int32_t z) { return z == 0; });
  if (quant.blocked() && zero && graph_.IsConstant(value)) return {names.scale};
  ir::Tensor zeros(type.dtype, shape);
  const auto width = static_cast<size_t>(ir::SizeOf(type.dtype));
  for (size_t c = 0; c < quant.zero_points.size(); ++c) {
    // Little-endian: the low bytes are the narrow integer.
    std::memcpy(zeros.mutable_raw() + c * width, &quant.zero_points[c], width);
  }
  writer_.Initializer(names.zero_point, zeros, Named::kInternal);
  return {names.scale, names.zero_point};
}

ir::AttrMap GraphWriter::AxisOf(const ir::Type& type) const {
  ir::AttrMap attributes;
  if (type.quant->axis) attributes.Set("axis", static_cast<int64_t>(*type.quant->axis));
  if (type.blocked()) attributes.Set("block_size", static_cast<int64_t>(type.quant->block));
  return attributes;
}

std::string GraphWriter::Dequantized(ValueId value) {
  std::string name = names_.Of(value).dequantized;
  if (!has_dequantized_.insert(value).second) return name;
  if (IsPendingBias(value)) {
    const ValueId real = graph_.Producer(value)->input(0);
    writer_.Initializer(name, graph_.value(real).constant->tensor, Named::kValue);
    pending_.push_back(name);
    return name;
  }
  std::vector<std::string> inputs = {Quantized(value)};
  for (std::string& parameter : Parameters(value)) inputs.push_back(std::move(parameter));
  TypeReal(value, name);
  const NodeId own = names_.DequantizeOf(value);
  const std::string node = own ? graph_.node(own).name : names_.UniqueNode(name + ".dequantize");
  writer_.Node(node, "DequantizeLinear", "", inputs, {name}, AxisOf(graph_.type(value)));
  return name;
}

void GraphWriter::TypeIntegers(ValueId value, const std::string& name) {
  const ir::Type& type = graph_.type(value);
  writer_.Typed(name, {type.dtype, type.shape, {}, {}});
}

void GraphWriter::TypeReal(ValueId value, const std::string& name) {
  writer_.Typed(name, graph_.type(value).Expressed());
}

// ---------------------------------------------------------------- nodes

Status GraphWriter::WriteNode(NodeId id) {
  const ir::Node& node = graph_.node(id);
  for (const target::Quirk* quirk : quirks_.At(id)) {
    if (quirk->instead == QuirkRemedy::kRaiseOpset) Need(static_cast<int64_t>(quirk->limit), id);
  }
  if (node.op == reinterpret_) return {};  // its consumer's DequantizeLinear has the parameters
  if (node.op == dequantize_) {
    WriteDequantize(id);
    return {};
  }
  if (node.op == rescale_) return WriteQuantize(id, Dequantized(node.input(0)));
  if (node.op != quantize_) return WriteOperator(id);
  if (IsPendingBias(node.result())) return {};
  return WriteQuantize(id, Read(node.input(0)));
}

Status GraphWriter::WriteQuantize(NodeId id, const std::string& source) {
  const ir::Node& node = graph_.node(id);
  const ir::Type& type = graph_.type(node.result());
  if (type.dtype == ir::DType::kI32) {
    return Fail(Code::kUnimplemented, "{} '{}': ONNX cannot quantize to int32", node.op->name,
                node.name)
        .Node(node.name);
  }
  std::vector<std::string> inputs = {Guarded(id, source)};
  for (std::string& parameter : Parameters(node.result())) inputs.push_back(std::move(parameter));
  const std::string& integers = names_.Of(node.result()).integers;
  TypeIntegers(node.result(), integers);
  writer_.Node(node.name, "QuantizeLinear", "", inputs, {integers}, AxisOf(type));
  return {};
}

void GraphWriter::WriteDequantize(NodeId id) {
  const ir::Node& node = graph_.node(id);
  const ValueId quantized = node.input(0), real = node.result();
  // Consumers inside the graph share one DequantizeLinear of the value; only a graph output needs
  // its own.
  if (!graph_.IsOutput(real)) return;
  if (names_.DequantizeOf(quantized) == id) {
    Dequantized(quantized);
    return;
  }
  if (!has_dequantized_.insert(real).second) return;
  std::vector<std::string> inputs = {Quantized(quantized)};
  for (std::string& parameter : Parameters(quantized)) inputs.push_back(std::move(parameter));
  writer_.Node(node.name, "DequantizeLinear", "", inputs, {graph_.name(real)},
               AxisOf(graph_.type(quantized)));
}

void GraphWriter::WriteConversion(NodeId id, Conversion conversion, Locals locals) {
  if (conversion.node.domain.empty()) {
    if (const int64_t least = DowngradeTo(graph_, opset_, conversion)) Need(least, id);
    const bool same = conversion.node.op == graph_.node(id).op->name;
    if (!same && !conversion.before.empty()) written_out_.push_back(conversion.node.name);
  }
  const auto write = [&](const Draft& draft) {
    std::vector<std::string> inputs;
    for (const Operand& operand : draft.inputs) {
      if (operand.literal) {
        inputs.push_back(names_.Unique(graph_.name(graph_.node(id).result()) + "." + operand.name));
        writer_.Initializer(inputs.back(), *operand.literal, Named::kInternal);
      } else if (!operand.name.empty()) {
        inputs.push_back(locals.at(operand.name));
      } else {
        // Integers have the shape of what they represent.
        const bool as_integers = graph_.node(id).op->shape_only && operand.value &&
                                 graph_.type(operand.value).quantized();
        inputs.push_back(as_integers ? Quantized(operand.value) : Read(operand.value));
      }
    }
    writer_.Node(draft.name, draft.op, draft.domain, inputs, draft.outputs, draft.attributes);
  };
  LocalTypes types;
  for (Draft& before : conversion.before) {
    const std::string local = before.outputs.front();
    const std::optional<ir::Type> type = TypeOfResult(graph_, opset_, before, types);
    before.name = names_.UniqueNode(before.name);
    before.outputs.front() = locals[local] = names_.Unique(local);
    if (type) writer_.Typed(before.outputs.front(), types[local] = *type);
    write(before);
  }
  write(conversion.node);
}

void GraphWriter::WriteOutputsAmongOperands(const ir::Node& node) {
  for (const ValueId input : node.inputs) {
    if (!input) continue;
    const ir::Node* producer = graph_.Producer(input);
    NodeId own;
    if (graph_.type(input).quantized()) own = names_.DequantizeOf(input);
    if (producer && producer->op == dequantize_) own = graph_.value(input).producer;
    if (own) WriteDequantize(own);
  }
}

Status GraphWriter::WriteOperator(NodeId id) {
  const ir::Node& node = graph_.node(id);
  WriteOutputsAmongOperands(node);
  if (options_.format == Format::kQLinear && WriteQLinear(id)) return {};
  Draft draft{.name = node.name,
              .op = std::string(node.op->name),
              .domain = std::string(node.op->domain),
              .attributes = AttributesForRuntime(id)};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    draft.inputs.push_back(input ? Operand::Of(input) : Operand{});
    if (IsFloatBias(node, i)) float_biases_.push_back(graph_.name(input));
  }
  if (ir::DequantizesSums(graph_, node)) float_results_.push_back(node.name);
  for (const ValueId result : node.results) {
    const bool quantized = graph_.type(result).quantized();
    draft.outputs.push_back(quantized ? names_.Of(result).before : graph_.name(result));
    TypeReal(result, draft.outputs.back());
  }
  Locals locals;
  const auto replace = [&](int input, const std::string& name) {
    draft.Set(static_cast<size_t>(input), Operand::Local(name));
    locals.emplace(name, name);
  };
  if (const std::string bias = BiasForRuntime(id); !bias.empty()) replace(2, bias);
  if (const std::string w = WeightForRuntime(node, draft.attributes); !w.empty()) replace(1, w);
  const std::string result = draft.outputs.front();
  const bool in_double = SumsInDouble(id);
  if (in_double) {
    draft.outputs.front() = names_.Unique(result + std::string(kSumSuffix));
    const ir::Shape& shape = graph_.type(node.input(0)).shape;
    replace(0, WriteCast(Read(node.input(0)), names_.Unique(result + std::string(kWideSuffix)),
                         {ir::DType::kF64, shape, {}, {}}));
  }
  const std::string written = draft.outputs.front();
  WriteConversion(id, {.node = std::move(draft)}, std::move(locals));
  if (in_double) {
    ir::Type type = graph_.type(node.result()).Expressed();
    WriteCast(written, result, type);
    type.dtype = ir::DType::kF64;
    writer_.Typed(written, std::move(type));
  }
  for (const ValueId result : node.results) {
    if (!graph_.type(result).quantized()) continue;
    if (graph_.type(result).dtype == ir::DType::kI32) {
      return Fail(Code::kUnimplemented, "{} '{}': ONNX cannot quantize its result to int32",
                  node.op->name, node.name)
          .Node(node.name);
    }
    const QuantizedNames& names = names_.Of(result);
    std::vector<std::string> quantize = {Guarded(id, names.before)};
    for (std::string& parameter : Parameters(result)) quantize.push_back(std::move(parameter));
    TypeIntegers(result, names.integers);
    writer_.Node(names_.UniqueNode(names.integers), "QuantizeLinear", "", quantize,
                 {names.integers}, AxisOf(graph_.type(result)));
  }
  return {};
}

// ---------------------------------------------------------------- QLinear

namespace {

struct QLinearRow {
  std::string_view op = {};
  std::string_view as = {};
  int weight_axis = 0;  // of per-channel weights; counted from the end if negative
};

constexpr QLinearRow kQLinear[] = {{"Conv", "QLinearConv", 0}, {"MatMul", "QLinearMatMul", -1}};

const QLinearRow* FindQLinear(const ir::OpDef& op) {
  for (const QLinearRow& row : kQLinear) {
    if (op.domain.empty() && row.op == op.name) return &row;
  }
  return nullptr;
}

bool IsByte(const ir::Type& type) { return type.quantized() && ir::SizeOf(type.dtype) == 1; }

}  // namespace

bool GraphWriter::CanBeQLinear(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  const QLinearRow* row = FindQLinear(*node.op);
  if (row == nullptr) return false;
  const ir::Type &x = graph_.type(node.input(0)), &w = graph_.type(node.input(1));
  const ir::Type& y = graph_.type(node.result());
  if (!IsByte(x) || !IsByte(w) || !IsByte(y)) return false;
  if (!x.quant->per_tensor() || !y.quant->per_tensor()) return false;
  if (w.quant->axis) {
    const int rank = static_cast<int>(w.shape.size());
    if (*w.quant->axis != (row->weight_axis < 0 ? row->weight_axis + rank : row->weight_axis)) {
      return false;
    }
  }
  const ValueId bias = node.input(2);
  return !bias || (graph_.IsConstant(bias) && graph_.type(bias).dtype == ir::DType::kI32);
}

bool GraphWriter::WriteQLinear(NodeId id) {
  if (!CanBeQLinear(id)) return false;
  const ir::Node& node = graph_.node(id);
  std::vector<std::string> inputs;
  for (const size_t operand : {0, 1}) {
    inputs.push_back(Quantized(node.inputs[operand]));
    for (std::string& name : Parameters(node.inputs[operand])) inputs.push_back(std::move(name));
  }
  for (std::string& name : Parameters(node.result())) inputs.push_back(std::move(name));
  if (node.input(2)) inputs.push_back(Quantized(node.input(2)));
  TypeIntegers(node.result(), names_.Of(node.result()).integers);
  writer_.Node(node.name, std::string(FindQLinear(*node.op)->as), "", inputs,
               {names_.Of(node.result()).integers}, node.attributes);
  return true;
}

}  // namespace octavo::onnx
