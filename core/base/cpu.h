// Which vector instructions the kernels use.  It changes their speed alone: every kernel gives the
// same bits on every instruction set.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace octavo {

// In ascending order: a machine that has one has all before it.
enum class Isa { kPortable, kSse4, kAvx2, kAvx512, kAvx512Vnni };

// "portable", "sse4", "avx2", "avx512", "avx512vnni".
std::string_view IsaName(Isa isa);
std::optional<Isa> IsaFromName(std::string_view name);

// The best that this processor and its operating system offer.  kAvx2 implies FMA; kAvx512 means
// F, BW, DQ and VL.
Isa MachineIsa();

// What kernels that are prepared now will use: MachineIsa(), or less where the environment
// variable OCTAVO_ISA (read once, at first use) or a ScopedIsaLimit says so.  A name that
// OCTAVO_ISA does not know is logged as an error and limits nothing.
Isa CurrentIsa();

// Every instruction set up to MachineIsa(), for tests that compare them.
std::span<const Isa> MachineIsas();

// Limits CurrentIsa() of the whole process while it lives; for tests and benchmarks.  Nested
// limits end in reverse order; they must not overlap in other ways.
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
