// SPDX-License-Identifier: Apache-2.0
// The attributes of a node, sorted by their ONNX names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/ir/tensor.h"

namespace octavo::ir {

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>, PayloadPtr>;

// The alternatives of Attribute, in its order.
enum class AttrKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor };

inline AttrKind KindOf(const Attribute& attribute) {
  return static_cast<AttrKind>(attribute.index());
}

class AttrMap {
 public:
  using Map = std::map<std::string, Attribute, std::less<>>;

  AttrMap() = default;
  AttrMap(std::initializer_list<Map::value_type> list) : map_(list) {}

  void Set(std::string_view name, Attribute value) {
    map_.insert_or_assign(std::string(name), std::move(value));
  }
  void Erase(std::string_view name) {
    if (const auto at = map_.find(name); at != map_.end()) map_.erase(at);
  }
  bool Has(std::string_view name) const { return map_.find(name) != map_.end(); }

  // The attribute's value, or the fallback if the attribute is absent or of another kind (the
  // verifier rejects the latter).
  int64_t Int(std::string_view name, int64_t fallback) const { return Get(name, fallback); }
  float Float(std::string_view name, float fallback) const { return Get(name, fallback); }
  std::string String(std::string_view name, std::string fallback) const {
    return Get(name, std::move(fallback));
  }
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {}) const {
    return Get(name, std::move(fallback));
  }
  std::vector<float> Floats(std::string_view name, std::vector<float> fallback = {}) const {
    return Get(name, std::move(fallback));
  }
  PayloadPtr TensorOf(std::string_view name) const { return Get(name, PayloadPtr()); }

  Map::const_iterator begin() const { return map_.begin(); }
  Map::const_iterator end() const { return map_.end(); }
  size_t size() const { return map_.size(); }
  // Tensors compare by their elements.
  bool operator==(const AttrMap& other) const;

 private:
  template <class T>
  T Get(std::string_view name, T fallback) const {
    const auto at = map_.find(name);
    if (at == map_.end()) return fallback;
    const T* value = std::get_if<T>(&at->second);
    return value ? *value : fallback;
  }

  Map map_;
};

}  // namespace octavo::ir
