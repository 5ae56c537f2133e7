#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mode_vectors.h: what each numerics mode makes of sums, by integers of any size and by
fractions: ties, extremes, the least and the greatest multiplier, and shifts at every edge."""
import struct
from fractions import Fraction

LEAST, MOST = -2**31, 2**31 - 1
TIES = (0, 1, -1, 2, -2, 3, -3, 5, -5, 6, -6, 7, -7)
EXTREMES = (LEAST, LEAST + 1, -2**30, 2**30, MOST - 1, MOST)


def f32(x):
  return struct.unpack('f', struct.pack('f', x))[0]


def held(x, low=LEAST, most=MOST):
  return max(low, min(most, x))


def half_away(x):
  return int(x + Fraction(1, 2)) if x >= 0 else -int(-x + Fraction(1, 2))


def half_up(x):
  return (x + Fraction(1, 2)).__floor__()


def doubling_high(a, b):
  nudge = 2**30 if a * b >= 0 else 1 - 2**30
  return held(int(Fraction(a * b + nudge, 2**31)))


def twice(x, m, n):
  s = 31 - n
  return half_away(Fraction(doubling_high(held(x * 2**max(s, 0)), m), 2**max(-s, 0)))


def once(x, m, n):
  return held(half_up(Fraction(x * m, 2**n)))


def glow_cpu(x, before, scale, after):
  return held(half_up(Fraction((x >> before) * scale, 2**after)))


def pow2(x, e):
  return held(half_up(Fraction(x) * Fraction(2)**e))


def code(x, zero):
  return held(x + zero, -128, 127)


def onnx(x, m, zero):
  return round(held(f32(f32(x) * m), -128 - zero, 127 - zero)) + zero


def glow_inside(x, m, zero):
  return held(half_away(Fraction(f32(f32(f32(x) * m) + f32(zero)))), -128, 127)


def glow_after(x, m, zero):
  return code(half_away(Fraction(f32(f32(x) * m))), zero)


def literal(v):
  return f'{v}LL' if v == LEAST else str(v)


def rows(name, fields, values):
  print(f'struct {name} {{\n' + ''.join(f'  {field};\n' for field in fields) + '};')
  print(f'inline constexpr {name} k{name}[] = {{')
  line = ''
  for value in values:
    text = '{' + ', '.join(literal(v) for v in value) + '}, '
    if len(line) + len(text) > 96:
      print(line.rstrip())
      line = ''
    line += text
  print(line.rstrip(', ') + '};\n')


def main():
  print('// SPDX-License-Identifier: Apache-2.0\n// Written by mode_vectors.py; not by hand.\n#pragma once\n\n#include <cstdint>\n')
  print('// clang-format off\nnamespace octavo::numerics::mode_vectors {\n')
  fixed = [(x, m, n) for n in (1, 30, 31, 32, 62) for m in (2**30, MOST) for x in TIES + EXTREMES]
  print('// n = 31 - shift; rounded twice (tflite) and once (tflite-single).')
  rows('Fixed', ('int64_t x', 'int32_t multiplier', 'int n', 'int32_t twice', 'int32_t once'),
       [(x, m, n, twice(x, m, n), once(x, m, n)) for x, m, n in fixed])
  print('// glow-cpu.')
  rows('Transform', ('int64_t x', 'int before', 'int32_t scale', 'int after', 'int32_t y'),
       [(x, b, scale, a, glow_cpu(x, b, scale, a)) for a in (0, 1, 30, 31, 32, 62)
        for b, scale in ((0, 1), (0, 2**30), (7, 255), (1, MOST)) for x in TIES[:5] + EXTREMES])
  print('// pow2.')
  rows('Shift', ('int64_t x', 'int exponent', 'int32_t y'),
       [(x, e, pow2(x, e)) for e in (31, 30, 1, 0, -1, -30, -31, -32, -62) for x in TIES + EXTREMES])
  print('// Results of a Conv (glow_inside: offset before the round), a Gemm (glow_after) and onnx; the\n'
        '// multiplier is 2^-k, or 3 * 2^-k.')
  sums = TIES[:9] + (127, 255, -257, LEAST, MOST)
  floats = [(x, odd, k, zero) for odd in (1, 3) for k in (1, 2, 31) for zero in (0, -3, 127)
           for x in sums]
  rows('Real', ('int64_t x', 'int odd', 'int k', 'int zero', 'int onnx', 'int glow_inside',
                'int glow_after'),
       [(x, odd, k, z, onnx(x, odd * 2.0**-k, z), glow_inside(x, odd * 2.0**-k, z),
         glow_after(x, odd * 2.0**-k, z)) for x, odd, k, z in floats])
  print('}  // namespace octavo::numerics::mode_vectors\n// clang-format on')


if __name__ == '__main__':
  main()
