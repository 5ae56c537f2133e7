// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

namespace octavo {
namespace {

struct IsaRow {
  Isa isa;
  std::string_view name;
};

constexpr std::array<IsaRow, 5> kRows = {{{Isa::kPortable, "portable"},
                                          {Isa::kSse4, "sse4"},
                                          {Isa::kAvx2, "avx2"},
                                          {Isa::kAvx512, "avx512"},
                                          {Isa::kAvx512Vnni, "avx512vnni"}}};
constexpr std::array<Isa, 5> kIsas = {Isa::kPortable, Isa::kSse4, Isa::kAvx2, Isa::kAvx512,
                                      Isa::kAvx512Vnni};

Isa Detect() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.1")) return Isa::kPortable;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::kSse4;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx2;
  }
  if (!__builtin_cpu_supports("avx512vnni")) return Isa::kAvx512;
  return Isa::kAvx512Vnni;
#else
  return Isa::kPortable;
#endif
}

Isa LimitFromEnvironment() {
  const char* name = std::getenv("OCTAVO_ISA");
  if (name == nullptr || *name == '\0') return Isa::kAvx512Vnni;
  if (const auto isa = IsaFromName(name)) return *isa;
  spdlog::error("OCTAVO_ISA is '{}'; it must be one of portable, sse4, avx2, avx512, avx512vnni",
                name);
  return Isa::kAvx512Vnni;
}

std::atomic<Isa>& Limit() {
  static std::atomic<Isa> limit{LimitFromEnvironment()};
  return limit;
}

}  // namespace

std::string_view IsaName(Isa isa) { return kRows[static_cast<size_t>(isa)].name; }

std::optional<Isa> IsaFromName(std::string_view name) {
  for (const IsaRow& row : kRows) {
    if (row.name == name) return row.isa;
  }
  return std::nullopt;
}

Isa MachineIsa() {
  static const Isa isa = Detect();
  return isa;
}

Isa CurrentIsa() { return std::min(MachineIsa(), Limit().load(std::memory_order_relaxed)); }

std::span<const Isa> MachineIsas() {
  return std::span(kIsas).first(static_cast<size_t>(MachineIsa()) + 1);
}

ScopedIsaLimit::ScopedIsaLimit(Isa limit) : before_(Limit().exchange(limit)) {}
ScopedIsaLimit::~ScopedIsaLimit() { Limit().store(before_); }

}  // namespace octavo
