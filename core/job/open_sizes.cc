// SPDX-License-Identifier: Apache-2.0
#include "core/job/open_sizes.h"

#include <algorithm>
#include <map>

#include "core/ir/verify.h"
#include "core/job/model_form.h"
#include "core/job/shape_formulas.h"
#include "core/job/sized_graphs.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::ValueId;

// The sizes at which a symbol is tried.
constexpr size_t kTries = 3;
// Some models take multiples of a number only.
constexpr int64_t kLargestUnit = 64;
// Each symbol costs several imports of the model.
constexpr size_t kMostSymbols = 32;

struct Place {
  size_t input = 0, axis = 0;
};

struct Symbol {
  std::string name = {};  // "": none
  std::vector<Place> places = {};
  int64_t bound = 0;   // in the job
  int64_t unit = 1;    // it is tried at multiples of it above the bound
  bool asked = false;  // the options give its size
  std::optional<Obstacle> fixed = {};
  bool merged = false;  // its places are another symbol's now

  bool open() const { return !asked && !fixed && !merged; }
  // Close to the bound, and so large that no stride hides the change.
  int64_t At(size_t attempt) const {
    const int64_t steps[kTries] = {unit, 2 * unit, (2 * bound + 3 + unit - 1) / unit * unit};
    return bound + steps[attempt % kTries] * static_cast<int64_t>(1 + attempt / kTries);
  }
};

// Without a name, axis 0 is the batch of all inputs, as import decides.
std::vector<Symbol> SymbolsOf(const Request& request, const Interface& interface,
                              const Graph& graph) {
  std::vector<Symbol> symbols;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const onnx::InputSignature& input = interface.inputs[i];
    const ir::Shape& shape = graph.type(graph.inputs()[i]).shape;
    const bool shape_given = request.options.shape.contains(input.name);
    for (size_t axis = 0; axis < input.declared.size() && axis < shape.size(); ++axis) {
      const onnx::Extent& extent = input.declared[axis];
      if (extent.value) continue;
      const std::string key = !extent.symbol.empty() ? "named " + extent.symbol
                              : axis == 0            ? std::string("batch")
                                                     : fmt::format("axis {} {}", i, axis);
      const auto [at, added] = known.emplace(key, symbols.size());
      if (added) symbols.push_back({.name = extent.symbol, .bound = shape[axis]});
      Symbol& symbol = symbols[at->second];
      symbol.places.push_back({i, axis});
      symbol.asked |= shape_given || (axis == 0 && request.options.batch > 0);
      if (shape[axis] != symbol.bound || shape[axis] == 0) {
        symbol.fixed = Obstacle{input.name, "its size is not one number above 0", false};
      }
    }
  }
  return symbols;
}

// A try of several symbols at once.
struct Trial {
  std::optional<Obstacle> obstacle = {};
  std::optional<Graph> graph = {};  // for all sizes
  std::vector<Graph> graphs = {};   // at each
  std::vector<InputShapes> shapes = {};
};

class Finder {
 public:
  Finder(const Request& request, const passes::Settings& settings, const Interface& interface,
         const Graph& graph)
      : model_(request, settings, interface.inputs),
        graph_(graph),
        symbols_(SymbolsOf(request, interface, graph)) {
    for (const ValueId input : graph.inputs()) shapes_.push_back(graph.type(input).shape);
  }

  Result<Trial> Run() {
    if (Open().empty()) return Trial();
    if (Open().size() > kMostSymbols) {
      for (Symbol* symbol : Open()) {
        symbol->fixed = {"", fmt::format("the model has more than {} open sizes", kMostSymbols)};
      }
      return Trial();
    }
    Result<Graph> base = model_.At(shapes_);
    if (!base && EndsJob(base.error())) return Forward(std::move(base).error());
    if (!base) {
      for (Symbol* symbol : Open()) symbol->fixed = {base.error().node, base.error().message, true};
      return Trial();
    }
    base_ = *std::move(base);
    comparable_ = EqualShapes(graph_, base_);
    OCTAVO_TRY(Trial all, Try(Open()));
    if (!all.obstacle) return all;
    for (Symbol& symbol : symbols_) {
      if (symbol.open()) OCTAVO_CHECK(TryAlone(symbol));
    }
    // Ends: each round fixes one more.
    while (!Open().empty()) {
      OCTAVO_TRY(Trial rest, Try(Open()));
      if (!rest.obstacle) return rest;
      Open().back()->fixed = rest.obstacle;
    }
    return Trial();
  }

  std::vector<Symbol>& symbols() { return symbols_; }

 private:
  std::vector<Symbol*> Open() {
    std::vector<Symbol*> open;
    for (Symbol& symbol : symbols_) {
      if (symbol.open()) open.push_back(&symbol);
    }
    return open;
  }

  Status TryAlone(Symbol& symbol) {
    OCTAVO_TRY(Trial trial, TryUnits(symbol));
    if (trial.obstacle && trial.obstacle->refused) {
      // Dimensions that have to be equal may have several names or none.
      Symbol together = symbol;
      std::vector<Symbol*> others;
      for (Symbol& other : symbols_) {
        if (&other == &symbol || !other.open() || other.bound != symbol.bound) continue;
        others.push_back(&other);
        together.places.insert(together.places.end(), other.places.begin(), other.places.end());
      }
      if (!others.empty()) {
        OCTAVO_TRY(const Trial joint, TryUnits(together));
        if (!joint.obstacle) {
          symbol = std::move(together);
          for (Symbol* other : others) other->merged = true;
          return {};
        }
      }
    }
    symbol.fixed = std::move(trial.obstacle);
    return {};
  }

  Result<Trial> TryUnits(Symbol& symbol) {
    std::optional<Trial> first;
    for (symbol.unit = 1; symbol.unit <= kLargestUnit; symbol.unit *= 2) {
      OCTAVO_TRY(Trial trial, Try({&symbol}));
      if (!trial.obstacle || !trial.obstacle->refused) return trial;
      if (!first) first = std::move(trial);
    }
    symbol.unit = 1;
    return *std::move(first);
  }

  // Each try gives every symbol another of its sizes, so that no two change alike.
  InputShapes ShapesOf(const std::vector<Symbol*>& varied, size_t attempt) const {
    InputShapes shapes = shapes_;
    for (size_t i = 0; i < varied.size(); ++i) {
      const size_t turn = i / kTries * kTries + (i + attempt) % kTries;
      for (const Place& place : varied[i]->places) {
        shapes[place.input][place.axis] = varied[i]->At(turn);
      }
    }
    return shapes;
  }

  Result<Trial> Try(const std::vector<Symbol*>& varied) {
    Trial trial;
    std::vector<Graph> prepared;
    std::set<std::string> varying;
    for (size_t attempt = 0; attempt < kTries; ++attempt) {
      trial.shapes.push_back(ShapesOf(varied, attempt));
      Result<Graph> at = model_.At(trial.shapes.back());
      if (!at) {
        if (EndsJob(at.error())) return Forward(std::move(at).error());
        const std::vector<std::string> sizes = [&] {
          std::vector<std::string> list;
          for (const ir::Shape& shape : trial.shapes.back()) list.push_back(ir::ToString(shape));
          return list;
        }();
        trial.obstacle = Obstacle{.node = at.error().node,
                                  .why = fmt::format("the model does not take {}: {}",
                                                     fmt::join(sizes, ", "), at.error().message),
                                  .refused = true};
        return trial;
      }
      prepared.push_back(*std::move(at));
      trial.obstacle = CompareNodes(base_, prepared.back(), varying);
      if (trial.obstacle) return trial;
    }
    Graph general = graph_;
    trial.obstacle = Generalize(general, prepared, varying);
    if (!trial.obstacle) trial.obstacle = Check(general, prepared, trial);
    if (!trial.obstacle) trial.graph = std::move(general);
    return trial;
  }

  Obstacle BoundBy(ValueId constant) const {
    const auto readers = graph_.Consumers(constant);
    const std::string& name = graph_.name(constant);
    if (readers.empty()) return {name, fmt::format("'{}' depends on the size", name), false};
    const ir::Node& node = graph_.node(readers.front());
    return {node.name,
            fmt::format("operand '{}' of {} '{}' was computed for this size", name, node.op->name,
                        node.name),
            false};
  }

  std::optional<Obstacle> Generalize(Graph& general, const std::vector<Graph>& prepared,
                                     const std::set<std::string>& varying) const {
    std::vector<const Graph*> sized = {&base_};
    for (const Graph& graph : prepared) sized.push_back(&graph);
    ShapeFormulas formulas(general, sized);
    for (const std::string& name : varying) {
      const ValueId constant = general.Find(name);
      const ir::Type& type = base_.type(base_.Find(name));
      const bool integers = type.dtype == ir::DType::kI64 && type.shape.size() <= 1;
      // What a rewrite removed with its reader shows in the shapes.
      if (!constant && integers) continue;
      if (!constant) return Obstacle{.node = name, .why = Gone(name)};
      if (!general.IsConstant(constant) || !integers) return BoundBy(constant);
      SizedElements elements;
      for (const Graph* graph : sized) {
        const ValueId at = graph->Find(name);
        if (!graph->IsConstant(at)) return BoundBy(constant);
        const auto values = graph->value(at).constant->tensor.values<int64_t>();
        elements.emplace_back(values.begin(), values.end());
      }
      const auto own = general.value(constant).constant->tensor.values<int64_t>();
      if (!std::ranges::equal(own, elements.front())) return BoundBy(constant);
      if (!formulas.Generalize(constant, elements)) return BoundBy(constant);
    }
    return std::nullopt;
  }

  static std::string Gone(const std::string& name) {
    return fmt::format("constant '{}', which depends on the size, became part of another", name);
  }

  std::optional<Obstacle> Check(const Graph& general, const std::vector<Graph>& prepared,
                                Trial& trial) const {
    if (const Status verified = ir::Verify(general); !verified) {
      return Obstacle{verified.error().node, verified.error().message, false};
    }
    for (size_t i = 0; i < prepared.size(); ++i) {
      Graph sized = general;
      if (auto obstacle = Retype(sized, trial.shapes[i])) return obstacle;
      if (auto obstacle = CompareShapes(sized, prepared[i], comparable_)) return obstacle;
      trial.graphs.push_back(std::move(sized));
    }
    return std::nullopt;
  }

  const SizedModel model_;
  const Graph& graph_;
  std::vector<Symbol> symbols_;
  InputShapes shapes_;
  Graph base_;  // the prepared model at the job's size
  std::set<std::string> comparable_;
};

void Warn(const Symbol& symbol, const Obstacle& obstacle, const Interface& interface,
          std::vector<ir::Warning>& warnings) {
  for (const Place& place : symbol.places) {
    const onnx::InputSignature& input = interface.inputs[place.input];
    const std::string& name = input.declared[place.axis].symbol;
    warnings.push_back(
        {.code = "fixed_dimension",
         .message = fmt::format(
             "dimension {}{} of input '{}' is open in the model and {} in the result: {}",
             place.axis, name.empty() ? "" : fmt::format(" ('{}')", name), input.name, symbol.bound,
             obstacle.why),
         .node = obstacle.node.empty() ? input.name : obstacle.node});
  }
}

std::vector<std::optional<std::string>> NamesOf(const std::vector<onnx::Extent>& declared) {
  std::vector<std::optional<std::string>> names;
  for (const onnx::Extent& extent : declared) {
    names.push_back(extent.value ? std::nullopt : std::optional(extent.symbol));
  }
  return names;
}

onnx::OpenSizes SizesOf(const std::vector<Symbol>& symbols, const Interface& interface,
                        const Graph& graph, Trial& trial) {
  onnx::OpenSizes sizes;
  for (const Symbol& symbol : symbols) {
    if (!symbol.open()) continue;
    const Place& place = symbol.places.front();
    onnx::OpenSizes::Symbol& open = sizes.symbols.emplace_back();
    open.name = symbol.name;
    open.extents.push_back(symbol.bound);
    for (const InputShapes& shapes : trial.shapes) {
      open.extents.push_back(shapes[place.input][place.axis]);
    }
  }
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    sizes.declared[graph.name(graph.inputs()[i])] = NamesOf(interface.inputs[i].declared);
  }
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    const auto& declared = interface.outputs[i].declared;
    if (declared) sizes.declared[graph.name(graph.outputs()[i])] = NamesOf(*declared);
  }
  sizes.graphs = std::move(trial.graphs);
  return sizes;
}

bool HasInterface(const Interface& interface, const Graph& graph) {
  if (interface.inputs.size() != graph.inputs().size()) return false;
  if (interface.outputs.size() != graph.outputs().size()) return false;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (interface.inputs[i].declared.size() != graph.type(graph.inputs()[i]).shape.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<OpenModel> FindOpenSizes(const Request& request, const passes::Settings& settings,
                                const Interface& interface, const Graph& graph) {
  if (FormOf(request.model) != ModelForm::kOnnx || !HasInterface(interface, graph)) {
    return OpenModel();
  }
  ThreadPool alone(1);
  passes::Settings with_pool = settings;
  if (with_pool.pool == nullptr) with_pool.pool = &alone;
  Finder finder(request, with_pool, interface, graph);
  OCTAVO_TRY(Trial trial, finder.Run());
  OpenModel open;
  for (const Symbol& symbol : finder.symbols()) {
    if (symbol.fixed && !symbol.asked) Warn(symbol, *symbol.fixed, interface, open.warnings);
  }
  if (!trial.graph) return open;
  open.graph = std::move(trial.graph);
  open.sizes = SizesOf(finder.symbols(), interface, graph, trial);
  return open;
}

OpenModel FixSizes(const Request& request, const Interface& interface, const Graph& graph,
                   std::string_view why, std::string_view node) {
  OpenModel open;
  if (!HasInterface(interface, graph)) return open;
  const Obstacle obstacle{.node = std::string(node), .why = std::string(why)};
  for (const Symbol& symbol : SymbolsOf(request, interface, graph)) {
    if (!symbol.asked) Warn(symbol, obstacle, interface, open.warnings);
  }
  return open;
}

}  // namespace octavo::job
