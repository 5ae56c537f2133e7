// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/random_graph.h"

#include <algorithm>

#include "core/ir/canonical_quant.h"
#include "core/ir/infer.h"
#include "core/ir/map_quant.h"
#include "core/ops/op_table.h"
#include "core/ops/quantize_math.h"
#include "tests/core/properties/look_up_step.h"
#include "tests/core/properties/random_steps.h"
#include "tests/core/properties/random_types.h"

namespace octavo::test {
namespace {

using ir::DType;
using ir::Graph;
using ir::NodeId;
using ir::Quant;
using ir::Role;
using ir::Shape;
using ir::Type;
using ir::ValueId;
using Kind = ir::QuantRule::Kind;

const ir::OpDef* Own(std::string_view name) { return ops::FindOp(name, "octavo"); }

// The base of both kinds of graphs: a sequence of steps, then the outputs.
class Maker {
 public:
  explicit Maker(uint64_t seed)
      : dice_(seed), look_ups_(seed ^ 0x100c), sketch_{.dice = dice_, .graph = graph_} {}
  virtual ~Maker() = default;
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  Graph Make() {
    const int64_t inputs = dice_.Between(1, 2);
    for (int64_t i = 0; i < inputs; ++i) AddInput(fmt::format("x{}", i), DrawInputShape(dice_));
    // Constants that steps use like any other value: one operand of an op can be one, or all are.
    for (int64_t i = dice_.Chance(40) ? dice_.Between(1, 2) : 0; i > 0; --i) {
      AddConstant(sketch_.ShapeOf(sketch_.AnyValue()));
    }
    const int64_t wanted = dice_.Between(3, 16);
    int64_t look_up_at = look_ups_.Chance(25) ? look_ups_.Below(wanted) : -1;
    for (int64_t steps = 0, tries = 0; steps < wanted && tries < 200; ++tries) {
      if (steps == look_up_at) {
        AddLookUp();
        look_up_at = -1;
      }
      const auto step = DrawStep(sketch_, sketch_.AnyValue());
      if (!step) continue;
      Place(*step);
      ++steps;
    }
    for (const ValueId id : std::vector<ValueId>(sketch_.values)) {
      const bool leaf = graph_.CountUses(id) == 0;
      if (!graph_.IsInput(id) && dice_.Chance(leaf ? 85 : 5)) AddOutput(id);
    }
    if (graph_.outputs().empty()) AddOutput(sketch_.values.back());
    for (size_t i = 0; i < graph_.value_bound(); ++i) {  // values of abandoned steps
      const ValueId id{static_cast<int32_t>(i)};
      const ir::Value& value = graph_.value(id);
      if (!value.erased && value.constant && graph_.CountUses(id) == 0) graph_.EraseConstant(id);
    }
    return std::move(graph_);
  }

 protected:
  // Draws from dice of its own, so that the other graphs stay what they were without look-ups.
  void AddLookUp() {
    Sketch sketch{.dice = look_ups_, .graph = graph_, .values = sketch_.values};
    if (const auto step = DrawLookUp(sketch, sketch.AnyValue())) Place(*step);
  }

  virtual void AddInput(std::string name, Shape shape) = 0;
  virtual void AddConstant(const Shape& shape) = 0;
  virtual void Place(const Step& step) = 0;
  virtual void AddOutput(ValueId id) = 0;

  // Adds the step as a node with float results.
  NodeId AddFloatNode(const Step& step) {
    const auto types =
        ir::InferNode(graph_, *step.op, "step", step.inputs, step.attributes, step.results);
    std::vector<std::pair<std::string, Type>> results;
    for (const Type& type : *types) {
      results.emplace_back(fmt::format("v{}", made_++), type);
    }
    return graph_.AddNode({.op = step.op,
                           .inputs = step.inputs,
                           .attributes = step.attributes,
                           .results = std::move(results)});
  }

  Dice dice_, look_ups_;
  Graph graph_;
  Sketch sketch_;
  int made_ = 0;
};

class FloatMaker : public Maker {
 public:
  using Maker::Maker;

 private:
  void AddInput(std::string name, Shape shape) override {
    sketch_.values.push_back(
        graph_.AddInput(std::move(name), {DType::kF32, std::move(shape), {}, {}}));
  }
  void AddConstant(const Shape& shape) override {
    sketch_.values.push_back(sketch_.RealConstant(Shape(shape), 2));
  }
  void Place(const Step& step) override {
    const NodeId id = AddFloatNode(step);
    for (const ValueId result : graph_.node(id).results) sketch_.values.push_back(result);
  }
  void AddOutput(ValueId id) override { graph_.AddOutput(id); }
};

class QuantizedMaker : public Maker {
 public:
  explicit QuantizedMaker(uint64_t seed) : Maker(seed) {
    const int64_t types = dice_.Between(2, 4);
    for (int64_t i = 0; i < types; ++i) palette_.push_back(NewType());
    // Types close to palette_[0]: twice its range; and half its scale, from which values return.
    Type wide = palette_[0];
    wide.quant->scales[0] *= 2;
    palette_.push_back(wide);
    Type fine = palette_[0];
    fine.quant->scales[0] /= 2;
    palette_.push_back(fine);
  }

 private:
  Type NewType() { return DrawPerTensor(dice_); }

  Type DrawType(const Shape& shape) {
    Type type = dice_.Chance(75) ? dice_.Pick(palette_) : NewType();
    type.shape = shape;
    return type;
  }

  Type PerChannel(Type type) { return DrawPerChannel(dice_, std::move(type)); }

  void AddInput(std::string name, Shape shape) override {
    if (dice_.Chance(50)) {
      const Type type = DrawType(shape);
      sketch_.values.push_back(graph_.AddInput(std::move(name), type));
      return;
    }
    const ValueId x = graph_.AddInput(name, {DType::kF32, shape, {}, {}});
    const Type type = DrawType(shape);
    sketch_.values.push_back(AddOwn("Quantize", x, name + ".q", type, {}));
  }

  void AddConstant(const Shape& shape) override {
    Type type = DrawType(shape);
    if (dice_.Chance(30) && !shape.empty()) type = PerChannel(type);
    sketch_.values.push_back(QuantizedConstant(sketch_.RealConstant(Shape(shape), 2), type, {}));
  }

  void AddOutput(ValueId id) override {
    if (dice_.Chance(40)) return graph_.AddOutput(id);
    const std::string name = graph_.UniqueName(graph_.name(id) + ".out");
    graph_.AddOutput(AddOwn("Dequantize", id, name, graph_.type(id).Expressed(), {}));
  }

  // Adds an op of Octavo's domain on `x`, before the node `consumer` or at the end.
  ValueId AddOwn(std::string_view op, ValueId x, std::string_view name, const Type& type,
                 NodeId consumer) {
    Graph::Definition definition{
        .op = Own(op), .inputs = {x}, .results = {{graph_.UniqueName(name), type}}};
    const NodeId id = consumer ? graph_.InsertBefore(consumer, std::move(definition))
                               : graph_.AddNode(std::move(definition));
    return graph_.node(id).result();
  }

  ValueId Rescaled(ValueId x, Type type, NodeId consumer) {
    type.shape = graph_.type(x).shape;
    return AddOwn("Rescale", x, graph_.name(x) + ".r", type, consumer);
  }

  // A quantized constant: either rounded data, or Quantize of float data.
  ValueId QuantizedConstant(ValueId constant, const Type& type, NodeId consumer) {
    if (dice_.Chance(70)) return AddOwn("Quantize", constant, "w", type, consumer);
    ir::Tensor rounded = ops::QuantizeTensor(graph_.value(constant).constant->tensor, type);
    return graph_.AddConstant(graph_.UniqueName("w"), ir::MakePayload(std::move(rounded)), type);
  }

  void Place(const Step& step) override {
    const NodeId id = AddFloatNode(step);
    const Kind kind = step.op->QuantOf(graph_, graph_.node(id)).kind;
    if (IsTable(id) && dice_.Chance(40)) {
      PlaceTable(id);
    } else if (kind == Kind::kFloatOnly || kind == Kind::kNotReal || dice_.Chance(8)) {
      PlaceIsland(id);
    } else if (kind == Kind::kSameScale) {
      PlaceKept(id);
    } else {
      PlaceFree(id);
    }
    for (const ValueId result : graph_.node(id).results) {
      if (!graph_.type(result).quantized()) continue;
      sketch_.values.push_back(result);
      if (dice_.Chance(25)) {
        Type type = DrawType(graph_.type(result).shape);
        if (dice_.Chance(20) && !type.shape.empty()) type = PerChannel(type);
        sketch_.values.push_back(Rescaled(result, type, {}));
      }
      if (dice_.Chance(5)) {  // a Dequantize and a Quantize, as in imported models
        const ValueId real = AddOwn("Dequantize", result, graph_.name(result) + ".dq",
                                    graph_.type(result).Expressed(), {});
        sketch_.values.push_back(AddOwn("Quantize", real, graph_.name(result) + ".q",
                                        DrawType(graph_.type(result).shape), {}));
      }
    }
  }

  // Whether the node gathers from a constant of the step itself.
  bool IsTable(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    return node.op == ops::FindOp("Gather") && IsRealConstant(node.inputs[0]);
  }

  // Gives each row of the table its own scale; the rows are gathered in float.
  void PlaceTable(NodeId id) {
    const ValueId table = graph_.node(id).inputs[0];
    const Type type = TableType(dice_, graph_.type(table).shape,
                                static_cast<int>(graph_.node(id).attributes.Int("axis", 0)));
    graph_.SetInput(id, 0, QuantizedConstant(table, type, id));
    PlaceIsland(id);
  }

  // Places Dequantize, the op in float, and Quantize.
  void PlaceIsland(NodeId id) {
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId x = graph_.node(id).inputs[i];
      if (!x || !graph_.type(x).quantized()) continue;
      graph_.SetInput(
          id, i, AddOwn("Dequantize", x, graph_.name(x) + ".dq", graph_.type(x).Expressed(), id));
    }
    for (const ValueId result : std::vector<ValueId>(graph_.node(id).results)) {
      sketch_.values.push_back(AddOwn("Quantize", result, graph_.name(result) + ".q",
                                      DrawType(graph_.type(result).shape), {}));
    }
  }

  bool IsData(NodeId id, size_t input) const {
    const ir::Node& node = graph_.node(id);
    return node.inputs[input] && node.op->RoleOf(input) == Role::kData;
  }

  // A constant of the step itself.
  bool IsRealConstant(ValueId id) const {
    return graph_.IsConstant(id) && !graph_.type(id).quantized();
  }

  // Inserts Rescales at random, and where the op cannot have a per-channel operand.
  void PlaceFree(NodeId id) {
    const bool weighs = graph_.node(id).op->weight_axis != nullptr;
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      if (!IsData(id, i)) continue;
      const ValueId x = graph_.node(id).inputs[i];
      const Shape shape = graph_.type(x).shape;
      if (IsRealConstant(x)) {
        graph_.SetInput(id, i, QuantizedConstant(x, DrawType(shape), id));
      } else if (dice_.Chance(20) || (weighs && (!graph_.type(x).quant->per_tensor() ||
                                                 ir::SizeOf(graph_.type(x).dtype) > 1))) {
        Type type = DrawType(shape);
        while (weighs && ir::SizeOf(type.dtype) > 1) type = NewType();
        graph_.SetInput(id, i, Rescaled(x, type, id));
      }
    }
    PlaceWeights(id);
    for (const ValueId result : std::vector<ValueId>(graph_.node(id).results)) {
      graph_.SetType(result, DrawType(graph_.type(result).shape));
    }
  }

  void PlaceWeights(NodeId id) {
    const ValueId data = graph_.node(id).inputs[0];
    ValueId weight;
    for (size_t i = 1; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId constant = graph_.node(id).inputs[i];
      const Role role = graph_.node(id).op->RoleOf(i);
      if (role == Role::kWeight && !IsRealConstant(constant)) {
        PlaceComputedWeight(id, i);
      } else if (role == Role::kWeight) {
        weight = QuantizedConstant(constant, WeightType(id, i), id);
        graph_.SetInput(id, i, weight);
      } else if (role == Role::kBias && IsPlain(id, constant) && dice_.Chance(70)) {
        const Type type =
            BiasType(graph_.type(data), graph_.type(weight), graph_.type(constant).shape);
        graph_.SetInput(id, i, QuantizedConstant(constant, type, id));
      }
    }
  }

  void PlaceComputedWeight(NodeId id, size_t input) {
    const ValueId x = graph_.node(id).inputs[input];
    const auto fits = [](const Type& type) {
      return type.quant->per_tensor() && ir::SizeOf(type.dtype) == 1;
    };
    if (fits(graph_.type(x)) && dice_.Chance(50)) return;
    Type type = NewType();
    while (!fits(type)) type = NewType();
    graph_.SetInput(id, input, Rescaled(x, type, id));
  }

  // One value per output channel: what a quantized bias must be.
  bool IsPlain(NodeId id, ValueId bias) const {
    const Shape& shape = graph_.type(bias).shape;
    const int64_t channels = graph_.type(graph_.node(id).result()).shape[1];
    return shape == Shape{channels} || shape == Shape{1, channels};
  }

  Type WeightType(NodeId id, size_t input) {
    const ir::Node& node = graph_.node(id);
    Type type{
        DType::kI8, graph_.type(node.inputs[input]).shape, Quant::PerTensor(0.7f / 127, 0), {}};
    const int axis = node.op->weight_axis(graph_, node, static_cast<int>(input));
    if (axis < 0 || dice_.Chance(40)) return type;
    std::vector<float> scales(type.shape[axis]);
    for (float& scale : scales) scale = static_cast<float>(dice_.Real(0.003, 0.006));
    std::vector<int32_t> zero_points(scales.size(), 0);
    if (dice_.Chance(20)) {
      for (int32_t& zp : zero_points) zp = static_cast<int32_t>(dice_.Between(-9, 9));
    }
    type.quant = ir::Canonical(Quant::PerAxis(axis, std::move(scales), std::move(zero_points)));
    return type;
  }

  // Gives all data operands one type, which the results keep.
  void PlaceKept(NodeId id) {
    std::vector<size_t> data;
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      if (IsData(id, i)) data.push_back(i);
    }
    const ValueId first = graph_.node(id).inputs[data[0]];
    Type type = IsRealConstant(first) ? DrawType({}) : graph_.type(first);
    if (dice_.Chance(30) || (data.size() > 1 && !type.quant->per_tensor())) type = DrawType({});
    const auto mapped = MappedQuants(id, data[0], type);
    if (!type.quant->per_tensor() && mapped.empty()) type = DrawType({});
    for (const size_t i : data) {
      const ValueId x = graph_.node(id).inputs[i];
      type.shape = graph_.type(x).shape;
      type.range.reset();
      if (IsRealConstant(x)) {
        graph_.SetInput(id, i, QuantizedConstant(x, type, id));
      } else if (graph_.type(x).dtype != type.dtype || graph_.type(x).quant != type.quant) {
        graph_.SetInput(id, i, Rescaled(x, type, id));
      }
    }
    for (size_t k = 0; k < graph_.node(id).results.size(); ++k) {
      const ValueId result = graph_.node(id).results[k];
      Type own = type;
      own.shape = graph_.type(result).shape;
      if (!type.quant->per_tensor()) own.quant = mapped[k];
      graph_.SetType(result, own);
    }
  }

  // The results' parameters if the op maps the per-channel type; empty if it does not.
  std::vector<Quant> MappedQuants(NodeId id, size_t input, const Type& type) const {
    const ir::Node& node = graph_.node(id);
    std::vector<Quant> quants;
    for (size_t k = 0; k < node.results.size() && !type.quant->per_tensor(); ++k) {
      if (graph_.type(node.results[k]).dtype != DType::kF32) return {};
      const auto mapped = ir::MapQuant(graph_, node, static_cast<int>(input), k, *type.quant);
      if (!mapped) return {};
      quants.push_back(*mapped);
    }
    return quants;
  }

  std::vector<Type> palette_;
};

}  // namespace

Graph RandomQuantizedGraph(uint64_t seed) { return QuantizedMaker(seed).Make(); }

Graph RandomFloatGraph(uint64_t seed) { return FloatMaker(seed).Make(); }

}  // namespace octavo::test
