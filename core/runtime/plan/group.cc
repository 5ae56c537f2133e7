// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/group.h"

#include <algorithm>
#include <set>

#include "core/runtime/kernel_table.h"
#include "core/runtime/plan/fold_constants.h"

namespace octavo::runtime {
namespace {

using ir::NodeId;
using ir::ValueId;

class Grouper {
 public:
  Grouper(const ir::Graph& graph, const FixedValues& constants, const ProgramOptions& options,
          ThreadPool& pool)
      : graph_(graph), constants_(constants), options_(options), pool_(pool) {}

  Result<Grouping> Run() {
    for (const NodeId id : graph_.nodes()) OCTAVO_CHECK(Visit(id));
    return std::move(grouping_);
  }

 private:
  Status Visit(NodeId id) {
    const NodeView view = ViewOf(id);
    if (IsConstantNode(view.node, constants_)) {
      return Add({.kind = Group::Kind::kConstant, .node = id});
    }
    if (const auto open = open_.find(id); open != open_.end()) return AddKernel(open->second);
    if (inside_.count(id)) return {};
    const Kernel* kernel = ChooseKernel(view);
    if (kernel == nullptr) return NoKernel(view);
    Group group{.node = id, .kernel = kernel};
    if (!options_.fuses) return Add(std::move(group));
    if (const auto slices = slices_.find(id); slices != slices_.end()) {
      return AddInPlaceConcat(id, slices->second);
    }
    OCTAVO_TRY(group.epilogue, EpilogueOf(*kernel, view));
    if (group.epilogue.last()) return Open(std::move(group));
    if (IsLazyView(view)) return AddViews(id, view);
    return AddKernel(std::move(group));
  }

  NodeView ViewOf(NodeId id) const {
    return {.graph = graph_,
            .node = graph_.node(id),
            .fixed = constants_,
            .numerics = options_.numerics};
  }

  Status Add(Group group) {
    grouping_.groups.push_back(std::move(group));
    return {};
  }

  // ---------------------------------------------------------------- epilogues

  Result<Epilogue> EpilogueOf(const Kernel& kernel, const NodeView& view) const {
    Epilogue epilogue;
    if (kernel.prepare_fused == nullptr || !IsPlain8(view.out())) return epilogue;
    epilogue.add = AddFor(kernel, view);
    const ValueId result =
        epilogue.add ? graph_.node(epilogue.add->node).result() : view.node.result();
    OCTAVO_TRY(epilogue.table, FusableTable(view, result, pool_));
    return epilogue;
  }

  std::optional<FusedAdd> AddFor(const Kernel& kernel, const NodeView& view) const {
    if (!kernel.fuses_add || !CanFuse(kernel, view)) return std::nullopt;
    const auto add = FusableAdd(view);
    const bool is_taken = add && (open_.count(add->node) || inside_.count(add->node));
    if (!add || is_taken || (add->is_row && !kernel.fuses_row_add)) return std::nullopt;
    return add;
  }

  static bool CanFuse(const Kernel& kernel, const NodeView& view) {
    return kernel.can_fuse == nullptr || kernel.can_fuse(view);
  }

  // Defers a group until its last node is visited: only then are all its operands computed.
  Status Open(Group group) {
    const Epilogue& epilogue = group.epilogue;
    if (epilogue.add && epilogue.table) inside_.insert(epilogue.add->node);
    open_.emplace(epilogue.last(), std::move(group));
    return {};
  }

  Status AddKernel(Group group) {
    if (options_.fuses) group.epilogue.slice = SliceFor(group);
    if (const auto& slice = group.epilogue.slice) {
      slices_[slice->concat].insert(graph_.node(group.last()).result());
    }
    return Add(std::move(group));
  }

  // ---------------------------------------------------------------- in-place Concat

  // The slice of a Concat's result that the group can store to.
  std::optional<ConcatSlice> SliceFor(const Group& group) const {
    const Kernel& kernel = *group.kernel;
    if (!kernel.writes_slices || kernel.layout != LayoutRule::kChannelsLast) return std::nullopt;
    const ValueId result = graph_.node(group.last()).result();
    const bool is_image =
        CanonicalLayout(Layout::kChannelsLast, graph_.type(result).shape) == Layout::kChannelsLast;
    if (!is_image || !CanFuse(kernel, ViewOf(group.node))) return std::nullopt;
    return ConcatSliceOf(graph_, result, constants_);
  }

  Status AddInPlaceConcat(NodeId id, const std::set<ValueId>& stored) {
    Group group{.kind = Group::Kind::kInPlaceConcat, .node = id};
    for (const ValueId operand : graph_.node(id).inputs) {
      group.in_place.push_back(stored.count(operand) > 0);
    }
    return Add(std::move(group));
  }

  // ---------------------------------------------------------------- views

  // Adds the views of one node.  A view of a view refers to the base of the latter.
  Status AddViews(NodeId id, const NodeView& view) {
    const ValueId operand = view.node.input(0);
    const auto at = grouping_.views.find(operand);
    const LazyView from = at != grouping_.views.end()
                              ? at->second
                              : LazyView{operand, IdentityIndices(graph_.type(operand).shape)};
    OCTAVO_TRY(std::vector<ir::Tensor> indices, ViewIndices(view, from.indices, pool_));
    for (size_t i = 0; i < indices.size(); ++i) {
      grouping_.views[view.node.results[i]] = {from.base, std::move(indices[i])};
    }
    return Add({.kind = Group::Kind::kView, .node = id});
  }

  const ir::Graph& graph_;
  const FixedValues& constants_;
  const ProgramOptions& options_;
  ThreadPool& pool_;
  std::map<NodeId, Group> open_;                // by their last node
  std::set<NodeId> inside_;                     // nodes within an epilogue, except the last
  std::map<NodeId, std::set<ValueId>> slices_;  // operands stored in place, by Concat
  Grouping grouping_;
};

}  // namespace

Result<Grouping> GroupNodes(const ir::Graph& graph, const FixedValues& constants,
                            const ProgramOptions& options, ThreadPool& pool) {
  return Grouper(graph, constants, options, pool).Run();
}

}  // namespace octavo::runtime
