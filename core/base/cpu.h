// SPDX-License-Identifier: Apache-2.0
// The vector instruction sets that kernels use.  They affect only speed: every kernel computes the
// same bits on every instruction set.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace octavo {

// In ascending order: a machine that supports one supports all earlier ones.
enum class Isa { kPortable, kSse4, kAvx2, kAvx512, kAvx512Vnni };

// "portable", "sse4", "avx2", "avx512", "avx512vnni".
std::string_view IsaName(Isa isa);
std::optional<Isa> IsaFromName(std::string_view name);

// The highest instruction set that the processor and the operating system support.  kAvx2 implies
// FMA; kAvx512 means F, BW, DQ and VL.
Isa MachineIsa();

// The instruction set for kernels that are prepared now: MachineIsa(), limited by the environment
// variable OCTAVO_ISA (read once, at first use) and by ScopedIsaLimit.  An unknown name in
// OCTAVO_ISA is logged as an error and ignored.
Isa CurrentIsa();

// Selects the best of three variants that CurrentIsa() can run.  The variants are function tables
// that octavo_vector_loops (cmake/targets.cmake) compiles from one source, in the namespaces
// portable, avx2 and avx512.
template <class T>
const T& ForIsa(const T& portable, const T& avx2, const T& avx512) {
  const Isa isa = CurrentIsa();
  if (isa >= Isa::kAvx512) return avx512;
  return isa >= Isa::kAvx2 ? avx2 : portable;
}

// Every instruction set up to MachineIsa(), for tests that compare them.
std::span<const Isa> MachineIsas();

// Limits CurrentIsa() of the whole process during its lifetime; for tests and benchmarks.  Nested
// limits must end in reverse order; they must not overlap in other ways.
class ScopedIsaLimit {
 public:
  explicit ScopedIsaLimit(Isa limit);
  ~ScopedIsaLimit();
  ScopedIsaLimit(const ScopedIsaLimit&) = delete;
  ScopedIsaLimit& operator=(const ScopedIsaLimit&) = delete;

 private:
  Isa before_;
};

}  // namespace octavo
