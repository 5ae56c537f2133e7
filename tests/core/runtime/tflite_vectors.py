#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tflite_vectors.h: what TFLite's LeakyRelu, HardSwish and 64-bit multiplication give, by
integers of any size and by fractions, apart from rounding to float32 where TFLite uses it."""
import struct
from fractions import Fraction


def f32(x):
  return struct.unpack('f', struct.pack('f', x))[0]


def half_away(x):
  return int(x + Fraction(1, 2)) if x >= 0 else -int(-x + Fraction(1, 2))


def multiplier(real):
  """(M, s): real = M * 2^(s - 31), M in [2^30, 2^31)."""
  x, s = Fraction(real), 0
  if x == 0:
    return 0, 0
  while x >= 1:
    x, s = x / 2, s + 1
  while x < Fraction(1, 2):
    x, s = x * 2, s - 1
  m = half_away(x * 2**31)
  return (m // 2, s + 1) if m == 2**31 else (m, s)


def towards_zero(x):
  return int(x)


def high(a, b, bits):
  """The rounding doubling high product of numbers of so many bits."""
  nudge = 2**(bits - 2) if a * b >= 0 else 1 - 2**(bits - 2)
  return min(towards_zero(Fraction(a * b + nudge, 2**(bits - 1))), 2**(bits - 1) - 1)


def shift_right(x, e):
  """x / 2^e, ties away from zero."""
  return half_away(Fraction(x, 2**e))


def double_rounding(x, m, s):
  return shift_right(high(x << max(s, 0), m, 32), max(-s, 0))


def single_rounding(x, m, s):
  n = 31 - s
  return (x * m + 2**(n - 1)) // 2**n


def wide(x, m, s):
  r = min((m + 2**15) // 2**16, 2**15 - 1)
  return (x * r + 2**(14 - s)) // 2**(15 - s)


def clamp(x, low, high_end):
  return max(low, min(high_end, x))


def leaky_relu(code, scale, zero, to, to_zero, alpha, multiply):
  x = code - zero
  s, t = f32(scale), f32(to)
  real = f32(s / t) if x >= 0 else f32(f32(s * f32(alpha)) / t)
  return clamp(multiply(x, *multiplier(real)) + to_zero, -128, 127)


def hard_swish(code, scale, zero, to, to_zero):
  fine = f32(f32(1 / 128) * f32(scale))
  out_m, out_s = multiplier(f32(fine / f32(to)))
  gate_m, gate_s = multiplier(f32(fine / f32(f32(3) / f32(32768))))
  cut = lambda m: 2**15 - 1 if m >= 2**31 - 1 - 2**15 else (m + 2**15) // 2**16
  x = (code - zero) * 128
  scaled = high(x, cut(out_m), 16)
  held = lambda v: clamp(v, -2**15, 2**15 - 1)
  gate = held(x << (gate_s - 1)) if gate_s > 0 else x
  gate = high(gate, cut(gate_m), 16)
  gate = held(gate * 2) if gate_s > 0 else gate
  gate = shift_right(gate, -gate_s) if gate_s < 0 else gate
  gate = (gate + 2**15) // 2
  y = shift_right(towards_zero(Fraction(gate * scaled, 2**15)), -out_s)
  return clamp(y + to_zero, -128, 127)


def list_of(values, width=96):
  lines, line = [], ''
  for value in values:
    text = f'{value}, '
    if len(line) + len(text) > width:
      lines.append(line.rstrip())
      line = ''
    line += text
  return '\n'.join([*lines, line.rstrip(', ')])


INT8 = range(-128, 128)
LEAKY = [(0.05, 3, 0.05, 3, 0.01), (0.1, -17, 0.03, 5, 0.3), (0.02, 0, 0.0625, -128, 0.5)]
SWISH = [(0.05, -20, 0.04, -118), (0.0078125, 0, 0.0078125, 0), (0.9, 10, 0.6, -127),
         (0.0234375, 7, 0.3, 0)]


def main():
  print('// SPDX-License-Identifier: Apache-2.0\n// Written by tflite_vectors.py; not by hand.')
  print('#pragma once\n\n#include <array>\n#include <cstdint>\n')
  print('// clang-format off\nnamespace octavo::runtime::tflite_vectors {\n')
  print('struct Leaky {\n  float scale;\n  int32_t zero;\n  float to;\n  int32_t to_zero;\n'
        '  float alpha;\n  std::array<int64_t, 256> twice, once;  // rounded\n};')
  print('inline constexpr Leaky kLeakyRelu[] = {')
  for case in LEAKY:
    scale, zero, to, to_zero, alpha = case
    print(f'{{{scale}f, {zero}, {to}f, {to_zero}, {alpha}f,')
    both = [[leaky_relu(q, *case, way) for q in INT8] for way in (double_rounding, single_rounding)]
    print(',\n'.join('{' + list_of(results) + '}' for results in both) + '},')
  print('};\n\nstruct Swish {\n  float scale;\n  int32_t zero;\n  float to;\n  int32_t to_zero;\n'
        '  std::array<int64_t, 256> results;\n};')
  print('inline constexpr Swish kHardSwish[] = {')
  for case in SWISH:
    scale, zero, to, to_zero = case
    print(f'{{{scale}f, {zero}, {to}f, {to_zero},')
    print('{' + list_of([hard_swish(q, *case) for q in INT8]) + '}},')
  print('};\n\nstruct Wide {\n  int64_t x;\n  int32_t multiplier;\n  int shift;\n  int32_t y;\n};')
  print('inline constexpr Wide kWide[] = {')
  rows = []
  for m in (2**30, 0x7FFEFFFF, 0x7FFF0000, 2**31 - 1, 1518500250):
    for s in (-31, -16, -1, 0, 1, 7):
      for x in (0, 1, -1, 3, -3, 2**15, -2**15, 2**20, 2**47 - 1, -2**47):
        y = wide(x, m, s)
        if -2**31 <= y < 2**31:
          rows.append(f'{{{x}, {m}, {s}, {y}}}')
  print(list_of(rows))
  print('};\n\n}  // namespace octavo::runtime::tflite_vectors\n// clang-format on')


if __name__ == '__main__':
  main()
