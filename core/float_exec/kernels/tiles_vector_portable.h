// SPDX-License-Identifier: Apache-2.0
// The vector type of tiles.cc for any processor.  std::fma rounds once with or without an
// instruction for it, so this type is slow on some machines but gives the same bits on all.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

namespace octavo::float_exec::internal {
namespace {

struct Vector {
  static constexpr int kLanes = 4;
  static constexpr int kRows = 2;
  static constexpr int kPixels = 2;
  static constexpr bool kSquares = false;
  static constexpr bool kPicks = false;
  struct Reg {
    float x[kLanes];
  };
  static Reg Zero() { return {}; }
  static Reg Load(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
  static void Store(float* p, Reg r) {
    for (int i = 0; i < kLanes; ++i) p[i] = r.x[i];
  }
  static Reg LoadFirst(const float* p, int count) {
    Reg r = {};
    for (int i = 0; i < count; ++i) r.x[i] = p[i];
    return r;
  }
  static void StoreFirst(float* p, Reg r, int count) {
    for (int i = 0; i < count; ++i) p[i] = r.x[i];
  }
  static Reg LoadFours(const float* p, int64_t) { return Load(p); }
  static void TransposeFours(Reg (&r)[4]) {
    for (int i = 0; i < kLanes; ++i) {
      for (int j = 0; j < i; ++j) std::swap(r[i].x[j], r[j].x[i]);
    }
  }
  static Reg Even(Reg a, Reg b) { return {{a.x[0], a.x[2], b.x[0], b.x[2]}}; }
  static Reg Odd(Reg a, Reg b) { return {{a.x[1], a.x[3], b.x[1], b.x[3]}}; }
  static Reg Broadcast(float x) { return {{x, x, x, x}}; }
  static Reg Add(Reg a, Reg b) {
    for (int i = 0; i < kLanes; ++i) a.x[i] += b.x[i];
    return a;
  }
  static Reg Fma(Reg a, Reg b, Reg c) {
    for (int i = 0; i < kLanes; ++i) c.x[i] = std::fma(a.x[i], b.x[i], c.x[i]);
    return c;
  }
};

}  // namespace
}  // namespace octavo::float_exec::internal
