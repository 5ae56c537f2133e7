// SPDX-License-Identifier: Apache-2.0
// planted KIND: a program with one error, which a sanitizer must report (sanitized_test.py).
#include <cstdio>
#include <cstring>
#include <limits>

namespace {

// What the optimizer cannot see through.
char* volatile kept = nullptr;
volatile int number = std::numeric_limits<int>::max();

void UseAfterFree() {
  kept = new char[16]();
  char* const freed = kept;
  delete[] freed;
  std::printf("%d\n", freed[3]);  // NOLINT: on purpose
}

void Leak() {
  kept = new char[16]();
  kept = nullptr;
}

void Overflow() { number = number + 1; }

}  // namespace

int main(int argc, char** argv) {
  const char* const kind = argc > 1 ? argv[1] : "";
  if (std::strcmp(kind, "use-after-free") == 0) UseAfterFree();
  if (std::strcmp(kind, "leak") == 0) Leak();
  if (std::strcmp(kind, "overflow") == 0) Overflow();
  return 0;
}
