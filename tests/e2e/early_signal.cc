// SPDX-License-Identifier: Apache-2.0
// A library that is loaded before a program's main and interrupts it.
#include <csignal>

namespace {

[[gnu::constructor]] void Interrupt() { std::raise(SIGINT); }

}  // namespace
