// SPDX-License-Identifier: Apache-2.0
#include "core/text/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "core/base/sha256.h"
#include "core/text/elements.h"
#include "core/text/lexer.h"

namespace octavo::text {
namespace {

constexpr size_t kLongList = 8;

std::string ValueName(std::string_view name) {
  return "%" + (IsWord(name) ? std::string(name) : Quote(name));
}

// Lists of equal elements print as one number if this parses back to the same list.
template <class T>
std::string PrintList(const std::vector<T>& list, bool is_list, bool late) {
  if (!is_list) return fmt::format("{}", list[0]);
  if (late) return "[]";
  return fmt::format("[{}]", fmt::join(list, ", "));
}

bool ZeroPointsDiffer(const ir::Quant& quant) {
  return std::any_of(quant.zero_points.begin(), quant.zero_points.end(),
                     [&](int32_t zp) { return zp != quant.zero_points[0]; });
}

bool ListsAreLong(const ir::Type& type) {
  return type.quant && type.quant->scales.size() > kLongList;
}

std::string TypeWith(const ir::Type& type, bool late) {
  std::string text = "tensor<";
  for (const int64_t extent : type.shape) text += fmt::format("{}x", extent);
  text += Name(type.dtype);
  if (type.quant) {
    const ir::Quant& quant = *type.quant;
    if (quant.axis) text += fmt::format(", axis={}", *quant.axis);
    if (quant.blocked()) text += fmt::format(", block={}", quant.block);
    text += ", scale=" + PrintList(quant.scales, quant.axis.has_value(), late);
    text += ", zp=" + PrintList(quant.zero_points, ZeroPointsDiffer(quant), late);
  }
  if (type.range) text += fmt::format(", range=[{}, {}]", type.range->min, type.range->max);
  return text + ">";
}

bool AllEqual(const ir::Tensor& tensor) {
  const size_t size = ir::SizeOf(tensor.dtype());
  for (int64_t i = 1; i < tensor.size(); ++i) {
    if (std::memcmp(tensor.raw(), tensor.raw() + i * size, size) != 0) return false;
  }
  return true;
}

class Printer {
 public:
  Printer(const ir::Graph& graph, const PrintOptions& options) : graph_(graph), options_(options) {}

  std::string Run() {
    Header();
    for (const ir::ValueId id : ConstantsInOrder()) Constant(id);
    for (const ir::NodeId id : graph_.nodes()) Node(graph_.node(id));
    LateLists();
    if (options_.old_names) OldNames();
    for (const auto& [key, value] : graph_.metadata) {
      text_ += fmt::format("  metadata {} = {}\n", Quote(key), Quote(value));
    }
    return std::move(text_) + "}\n";
  }

 private:
  void Header() {
    text_ += "graph";
    if (!graph_.graph_name.empty()) text_ += "@" + Quote(graph_.graph_name);
    std::vector<std::string> parts;
    for (const ir::ValueId id : graph_.inputs()) {
      parts.push_back(ValueName(graph_.name(id)) + ": " + TypeOf(id));
    }
    text_ += fmt::format("({}) -> (", fmt::join(parts, ", "));
    parts.clear();
    for (const ir::ValueId id : graph_.outputs()) parts.push_back(ValueName(graph_.name(id)));
    text_ += fmt::format("{})", fmt::join(parts, ", "));
    parts.clear();
    for (const auto& [domain, version] : graph_.opsets) {
      const std::string name = domain.empty() ? "ai.onnx" : domain;
      parts.push_back(fmt::format("{}: {}", IsWord(name) ? name : Quote(name), version));
    }
    if (!parts.empty()) text_ += fmt::format(" opset({})", fmt::join(parts, ", "));
    text_ += " {\n";
  }

  // Ordered by first consumer, then graph outputs, then unused ones by name: the order of creation
  // is not part of a graph's identity.
  std::vector<ir::ValueId> ConstantsInOrder() const {
    std::vector<ir::ValueId> order, unread;
    std::vector<bool> seen(graph_.value_bound(), false);
    const auto visit = [&](ir::ValueId id) {
      if (!id || seen[id.index] || !graph_.IsConstant(id)) return;
      seen[id.index] = true;
      order.push_back(id);
    };
    for (const ir::NodeId id : graph_.nodes()) {
      for (const ir::ValueId input : graph_.node(id).inputs) visit(input);
    }
    for (const ir::ValueId id : graph_.outputs()) visit(id);
    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ir::ValueId id{static_cast<int32_t>(i)};
      if (!graph_.value(id).erased && graph_.IsConstant(id) && !seen[i]) unread.push_back(id);
    }
    std::sort(unread.begin(), unread.end(),
              [&](ir::ValueId a, ir::ValueId b) { return graph_.name(a) < graph_.name(b); });
    order.insert(order.end(), unread.begin(), unread.end());
    return order;
  }

  // The type as printed on the value's line; long lists follow at the end of the text.
  std::string TypeOf(ir::ValueId id) {
    const bool late = ListsAreLong(graph_.type(id));
    if (late) late_.push_back(id);
    return TypeWith(graph_.type(id), late);
  }

  void Constant(ir::ValueId id) {
    text_ += fmt::format("  const {} = {} : {}\n", ValueName(graph_.name(id)),
                         PayloadText(graph_.value(id).constant), TypeOf(id));
  }

  std::string PayloadText(const ir::PayloadPtr& payload) {
    const ir::Tensor& tensor = payload->tensor;
    if (payload->seed) return fmt::format("random({})", static_cast<int64_t>(*payload->seed));
    if (tensor.size() > 1 && AllEqual(tensor)) {
      const ir::Tensor first(tensor.dtype(), {1}, tensor.ToBlob().Slice(0, SizeOf(tensor.dtype())));
      if (PrintsExactly(first)) return fmt::format("splat({})", PrintElement(first, 0));
    }
    if (tensor.size() <= options_.literal_elements && PrintsExactly(tensor)) {
      std::vector<std::string> numbers;
      for (int64_t i = 0; i < tensor.size(); ++i) numbers.push_back(PrintElement(tensor, i));
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    const auto [at, fresh] = spelled().digests.try_emplace(payload);
    if (fresh) at->second = Sha256Of(tensor.raw_bytes());
    if (options_.payload && written_.insert(at->second).second) {
      options_.payload(at->second, tensor);
    }
    return fmt::format("data(sha256:{}, {})", at->second, tensor.bytes());
  }

  Spelled& spelled() { return options_.spelled != nullptr ? *options_.spelled : spelled_; }

  const std::string& ScalesText(const std::vector<float>& scales) {
    std::string bytes(reinterpret_cast<const char*>(scales.data()), scales.size() * sizeof(float));
    const auto [at, fresh] = spelled().scales.try_emplace(std::move(bytes));
    if (fresh) at->second = fmt::format("{}", fmt::join(scales, ", "));
    return at->second;
  }

  void Node(const ir::Node& node) {
    std::vector<std::string> parts;
    for (const ir::ValueId id : node.results) parts.push_back(ValueName(graph_.name(id)));
    text_ += fmt::format("  {} = ", fmt::join(parts, ", "));
    if (!node.op->domain.empty() && node.op->domain != "octavo") {
      text_ += fmt::format("{}.", node.op->domain);
    }
    text_ += node.op->name;
    if (node.name != graph_.name(node.results[0])) text_ += "@" + Quote(node.name);
    parts.clear();
    for (const ir::ValueId id : node.inputs) {
      parts.push_back(id ? ValueName(graph_.name(id)) : "_");
    }
    text_ += fmt::format("({})", fmt::join(parts, ", "));
    parts.clear();
    for (const auto& [name, value] : node.attributes) {
      parts.push_back(fmt::format("{}={}", name, AttributeText(value)));
    }
    if (!parts.empty()) text_ += fmt::format(" {{{}}}", fmt::join(parts, ", "));
    parts.clear();
    for (const ir::ValueId id : node.results) parts.push_back(TypeOf(id));
    text_ += fmt::format(" : {}\n", fmt::join(parts, ", "));
  }

  // A float never prints like an integer, so that an op without a schema parses back unchanged.
  static std::string FloatText(float value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }

  std::string AttributeText(const ir::Attribute& attribute) {
    struct Visitor {
      Printer& printer;
      std::string operator()(int64_t value) { return fmt::format("{}", value); }
      std::string operator()(float value) { return FloatText(value); }
      std::string operator()(const std::string& value) { return Quote(value); }
      std::string operator()(const std::vector<int64_t>& list) {
        return fmt::format("[{}]", fmt::join(list, ", "));
      }
      std::string operator()(const std::vector<float>& list) {
        std::vector<std::string> texts;
        for (const float value : list) texts.push_back(FloatText(value));
        return fmt::format("[{}]", fmt::join(texts, ", "));
      }
      std::string operator()(const std::vector<std::string>& list) {
        std::vector<std::string> texts;
        for (const std::string& value : list) texts.push_back(Quote(value));
        return fmt::format("[{}]", fmt::join(texts, ", "));
      }
      std::string operator()(const ir::PayloadPtr& payload) {
        const ir::Tensor& tensor = payload->tensor;
        return fmt::format("{} : {}", printer.PayloadText(payload),
                           TypeWith({tensor.dtype(), tensor.shape(), {}, {}}, false));
      }
    };
    return std::visit(Visitor{*this}, attribute);
  }

  void LateLists() {
    for (const ir::ValueId id : late_) {
      const ir::Quant& quant = *graph_.type(id).quant;
      text_ +=
          fmt::format("  scales {} = [{}]\n", ValueName(graph_.name(id)), ScalesText(quant.scales));
      if (!ZeroPointsDiffer(quant)) continue;
      text_ += fmt::format("  zps {} = [{}]\n", ValueName(graph_.name(id)),
                           fmt::join(quant.zero_points, ", "));
    }
  }

  void OldNames() {
    std::vector<std::string> retired(graph_.retired().begin(), graph_.retired().end());
    for (const auto& [name, carrier] : graph_.aliases()) {
      if (graph_.Find(name)) continue;
      const ir::ValueId id = graph_.Resolve(name);
      if (!id) {
        retired.push_back(name);
        continue;
      }
      text_ += fmt::format("  alias {} = {}\n", ValueName(name), ValueName(graph_.name(id)));
    }
    std::sort(retired.begin(), retired.end());
    retired.erase(std::unique(retired.begin(), retired.end()), retired.end());
    for (const std::string& name : retired) {
      if (graph_.Find(name)) continue;
      text_ += fmt::format("  retired {}\n", ValueName(name));
    }
  }

  const ir::Graph& graph_;
  const PrintOptions& options_;
  std::string text_;
  std::vector<ir::ValueId> late_;
  Spelled spelled_;  // unless the options have it
  std::set<std::string> written_;
};

}  // namespace

std::string Print(const ir::Graph& graph, const PrintOptions& options) {
  return Printer(graph, options).Run();
}

}  // namespace octavo::text
