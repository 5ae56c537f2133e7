// SPDX-License-Identifier: Apache-2.0
#include "core/profile/moments.h"

#include <algorithm>
#include <cmath>

#include "core/base/cpu.h"
#include "core/profile/moment_loops.h"

namespace octavo::profile {
namespace {

// Bytes of the buffer of columns, unless one column is larger.
constexpr int64_t kBufferBytes = int64_t{16} << 20;
constexpr int64_t kRowGrain = 32;

const MomentLoops& CurrentLoops() {
  return ForIsa(portable::kMomentLoops, avx2::kMomentLoops, avx512::kMomentLoops);
}

int64_t Triangle(int64_t terms) { return terms * (terms + 1) / 2; }

// The positions whose columns one run contributes, in the middle of equal parts.
std::vector<int64_t> PositionsOf(const Layer& layer, int64_t runs) {
  const int64_t count = std::min(std::max<int64_t>(1, kMostColumns / runs), layer.positions);
  std::vector<int64_t> positions;
  positions.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    positions.push_back((2 * i + 1) * layer.positions / (2 * count));
  }
  return positions;
}

// Columns that fit into the buffer; part of the definition of the sums' order.
int64_t RoomFor(const Layer& layer) {
  const int64_t column = layer.groups * layer.terms * static_cast<int64_t>(sizeof(float));
  return std::clamp<int64_t>(kBufferBytes / column, 1, kFloatColumns);
}

bool IsFinite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

// Powers of two divide sums exactly, and their inverses multiply them exactly.
void Divide(std::span<const float> divisors, LayerMoments& moments) {
  const Layer& layer = moments.layer;
  const std::vector<TermBlock> blocks = BlocksOf(layer);
  std::vector<double> inverses;
  for (const float divisor : divisors) {
    inverses.insert(inverses.end(), static_cast<size_t>(layer.unit), 1.0 / divisor);
  }
  for (size_t k = 0; k < inverses.size(); ++k) moments.first[k] *= inverses[k];
  for (int64_t group = 0; group < layer.groups; ++group) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      const double* by = &inverses[static_cast<size_t>(group * layer.terms + blocks[i].begin)];
      double* row = moments.second[static_cast<size_t>(group) * blocks.size() + i].data();
      for (int64_t k = 0; k < blocks[i].terms; ++k) {
        for (int64_t l = 0; l <= k; ++l) row[l] *= by[k] * by[l];
        row += k + 1;
      }
    }
  }
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::vector<TermBlock> BlocksOf(const Layer& layer) {
  const int64_t most = layer.terms <= kMostWholeTerms ? kMostWholeTerms : kMostBlockTerms;
  const int64_t unit = layer.unit <= most ? layer.unit : 1;
  const int64_t units = layer.terms / unit;
  const int64_t count = CeilDiv(units, most / unit);
  std::vector<TermBlock> blocks;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = units * i / count, end = units * (i + 1) / count;
    blocks.push_back({.begin = begin * unit, .terms = (end - begin) * unit});
  }
  return blocks;
}

int64_t MomentBytes(const Layer& layer) {
  int64_t elements = layer.terms;
  for (const TermBlock& block : BlocksOf(layer)) elements += Triangle(block.terms);
  const int64_t buffer = RoomFor(layer) * layer.terms * static_cast<int64_t>(sizeof(float));
  return layer.groups * (elements * static_cast<int64_t>(sizeof(double)) + buffer);
}

MomentCollector::MomentCollector(const ir::Graph& graph, std::span<const Layer> layers,
                                 int64_t runs)
    : graph_(graph), runs_(std::max<int64_t>(runs, 1)) {
  for (const Layer& layer : layers) {
    if (!HasMoments(layer)) continue;
    Open open{.moments = {.layer = layer}, .room = RoomFor(layer)};
    open.moments.first.resize(static_cast<size_t>(layer.groups * layer.terms));
    for (int64_t group = 0; group < layer.groups; ++group) {
      for (const TermBlock& block : BlocksOf(layer)) {
        open.moments.second.emplace_back(static_cast<size_t>(Triangle(block.terms)));
      }
    }
    by_data_.emplace(layer.data.index, open_.size());
    open_.push_back(std::move(open));
  }
}

void MomentCollector::Watch(ir::ValueId id, const ir::Tensor& tensor, ThreadPool& pool) {
  const auto [begin, end] = by_data_.equal_range(id.index);
  for (auto at = begin; at != end; ++at) Add(open_[at->second], tensor, pool);
}

void MomentCollector::Add(Open& open, const ir::Tensor& data, ThreadPool& pool) {
  const Layer& layer = open.moments.layer;
  const std::vector<int64_t> positions = PositionsOf(layer, runs_);
  const auto column = static_cast<size_t>(layer.terms);
  const auto room = static_cast<size_t>(open.room);
  open.buffer.resize(static_cast<size_t>(layer.groups) * room * column);
  std::vector<float> one(static_cast<size_t>(layer.groups) * column);
  for (const int64_t position : positions) {
    GatherColumns(graph_, layer, data, {&position, 1}, one.data());
    if (!IsFinite(one)) {
      ++open.moments.skipped_columns;
      continue;
    }
    for (size_t group = 0; group < static_cast<size_t>(layer.groups); ++group) {
      std::copy_n(&one[group * column], column,
                  &open.buffer[(group * room + static_cast<size_t>(open.filled)) * column]);
    }
    ++open.moments.columns;
    if (++open.filled == open.room) Sum(open, pool);
  }
}

void MomentCollector::Sum(Open& open, ThreadPool& pool) {
  LayerMoments& moments = open.moments;
  const Layer& layer = moments.layer;
  const std::vector<TermBlock> blocks = BlocksOf(layer);
  const MomentLoops& loops = CurrentLoops();
  const auto sum_rows = [&](int64_t group, size_t block, int64_t begin, int64_t end) {
    loops.second(
        {.columns = &open.buffer[static_cast<size_t>(group * open.room * layer.terms)],
         .count = open.filled,
         .stride = layer.terms,
         .begin = blocks[block].begin,
         .terms = blocks[block].terms,
         .sums = moments.second[static_cast<size_t>(group) * blocks.size() + block].data()},
        begin, end);
  };
  pool.For(layer.groups, 8, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      loops.first(&open.buffer[static_cast<size_t>(group * open.room * layer.terms)], open.filled,
                  layer.terms, &moments.first[static_cast<size_t>(group * layer.terms)]);
      if (layer.groups == 1) continue;
      for (size_t i = 0; i < blocks.size(); ++i) sum_rows(group, i, 0, blocks[i].terms);
    }
  });
  for (size_t i = 0; layer.groups == 1 && i < blocks.size(); ++i) {
    pool.For(blocks[i].terms, kRowGrain,
             [&](int64_t begin, int64_t end) { sum_rows(0, i, begin, end); });
  }
  open.filled = 0;
}

MomentSource::Map MomentCollector::Finish(ThreadPool& pool) {
  MomentSource::Map all;
  for (Open& open : open_) {
    if (open.filled > 0) Sum(open, pool);
    open.buffer = {};
    const std::string& name = graph_.node(open.moments.layer.node).name;
    all.emplace(name, std::move(open.moments));
  }
  open_.clear();
  by_data_.clear();
  return all;
}

bool HasMoments(const Layer& layer) { return MomentBytes(layer) <= kMostMomentBytes; }

size_t EndOfPart(std::span<const Layer> layers, size_t begin) {
  int64_t bytes = 0;
  for (size_t i = begin; i < layers.size(); ++i) {
    if (!HasMoments(layers[i])) continue;
    bytes += MomentBytes(layers[i]);
    if (bytes > kMostMomentBytes) return i;
  }
  return layers.size();
}

std::vector<Layer> LayersOf(const ir::Graph& graph) {
  std::vector<Layer> layers;
  for (const ir::NodeId id : graph.nodes()) {
    if (auto layer = LayerOf(graph, id)) layers.push_back(*layer);
  }
  return layers;
}

MomentSource::MomentSource(const ir::Graph& graph, std::vector<Layer> layers, Map first, size_t end,
                           Rerun rerun)
    : layers_(std::move(layers)), held_(std::move(first)), end_(end), rerun_(std::move(rerun)) {
  for (size_t i = 0; i < layers_.size(); ++i) places_.emplace(graph.node(layers_[i].node).name, i);
}

MomentSource::MomentSource(std::shared_ptr<MomentSource> source, Divisors divisors)
    : source_(std::move(source)), divisors_(std::move(divisors)) {}

const Layer* MomentSource::LayerOf(std::string_view node) const {
  if (source_ != nullptr) return source_->LayerOf(node);
  const auto place = places_.find(node);
  return place == places_.end() ? nullptr : &layers_[place->second];
}

Result<const LayerMoments*> MomentSource::Of(std::string_view node) {
  if (source_ != nullptr) {
    OCTAVO_TRY(const LayerMoments* moments, source_->Of(node));
    const auto divisors = divisors_.find(node);
    if (moments == nullptr || divisors == divisors_.end()) return moments;
    held_.clear();
    LayerMoments& divided = held_.emplace(node, *moments).first->second;
    Divide(divisors->second, divided);
    return &divided;
  }
  const auto place = places_.find(node);
  if (place == places_.end() || !HasMoments(layers_[place->second])) return nullptr;
  const size_t index = place->second;
  if (index < begin_ || index >= end_) {
    held_.clear();
    const size_t end = EndOfPart(layers_, index);
    OCTAVO_TRY(held_, rerun_(std::span(layers_).subspan(index, end - index)));
    begin_ = index;
    end_ = end;
  }
  const auto at = held_.find(node);
  return at == held_.end() ? nullptr : &at->second;
}

}  // namespace octavo::profile
