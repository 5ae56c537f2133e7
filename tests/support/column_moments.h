// SPDX-License-Identifier: Apache-2.0
// Moments of columns that a test writes down, and not of a run.
#pragma once

#include <vector>

#include "core/profile/moments.h"

namespace octavo::test {

using Columns = std::vector<std::vector<float>>;

// Every group of the layer has these columns.
inline profile::LayerMoments MomentsOfColumns(const profile::Layer& layer, const Columns& columns) {
  profile::LayerMoments moments{.layer = layer, .columns = static_cast<int64_t>(columns.size())};
  for (int64_t group = 0; group < layer.groups; ++group) {
    for (int64_t k = 0; k < layer.terms; ++k) {
      double sum = 0;
      for (const auto& column : columns) sum += double{column[static_cast<size_t>(k)]};
      moments.first.push_back(sum);
    }
    for (const profile::TermBlock& block : profile::BlocksOf(layer)) {
      std::vector<double> triangle;
      for (int64_t k = block.begin; k < block.begin + block.terms; ++k) {
        for (int64_t l = block.begin; l <= k; ++l) {
          double sum = 0;
          for (const auto& column : columns) {
            sum += double{column[static_cast<size_t>(k)]} * double{column[static_cast<size_t>(l)]};
          }
          triangle.push_back(sum);
        }
      }
      moments.second.push_back(std::move(triangle));
    }
  }
  return moments;
}

// A source that has these moments for every layer of the graph whose columns have as many terms.
inline profile::MomentSource SourceOfColumns(const ir::Graph& graph, const Columns& columns) {
  std::vector<profile::Layer> layers;
  profile::MomentSource::Map all;
  for (const profile::Layer& layer : profile::LayersOf(graph)) {
    if (columns.empty() || static_cast<int64_t>(columns.front().size()) != layer.terms) continue;
    layers.push_back(layer);
    all.emplace(graph.node(layer.node).name, MomentsOfColumns(layer, columns));
  }
  const size_t end = layers.size();
  return {graph, std::move(layers), std::move(all), end, {}};
}

}  // namespace octavo::test
