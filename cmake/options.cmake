# SPDX-License-Identifier: Apache-2.0
# Compiler settings that every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(OCTAVO_CCACHE ccache)
if(OCTAVO_CCACHE)
  # The sloppiness is what ccache asks for where precompiled headers are used (precompile.cmake).
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${OCTAVO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${OCTAVO_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  else()
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
find_program(OCTAVO_MOLD mold)
if(OCTAVO_MOLD AND NOT OCTAVO_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()

# A float that decides an integer must have the same bits everywhere, so the compiler may not
# fuse a multiply and an add on its own; kernels that want a fused multiply-add say std::fma.
add_compile_options(-Wall -Wextra -Werror -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12 in its own AVX-512 headers and in inlined std::string code.
  add_compile_options(-Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict -Wno-dangling-pointer)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-O2)
endif()
if(OCTAVO_SANITIZE)
  add_compile_options(-fsanitize=${OCTAVO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O0)
  add_link_options(-fsanitize=${OCTAVO_SANITIZE})
  # Optimizing instrumented code takes longer than running it, but where the loops over elements are.
  set(OCTAVO_OPTIMIZED base data float_kernels float_exec profile int8 simd runtime report)
  # Lines are enough for a report; whole debug information takes a third of the time to build.
  string(REPLACE "-O2 -g" "-gline-tables-only" CMAKE_CXX_FLAGS_RELWITHDEBINFO
         "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  # A run that looks for errors keeps its assertions.
  add_compile_options(-UNDEBUG)
endif()
if(OCTAVO_FUZZ)
  # libFuzzer is led by what the code under test covers, not the target alone.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(OCTAVO_COVERAGE)
  add_compile_options(-UNDEBUG -fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
# ccache and reproducible builds: no absolute path in an object file.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# octavo_allocator(PROGRAM): jemalloc in place of the C library's malloc.  Graphs are many small
# blocks; passes over 64k nodes take 0.6 of the time, and the time of a node stays as graphs grow.
# Sanitizers bring an allocator of their own.
if(NOT OCTAVO_SANITIZE)
  find_library(OCTAVO_JEMALLOC jemalloc REQUIRED)
endif()
function(octavo_allocator program)
  if(NOT OCTAVO_SANITIZE)
    target_link_libraries(${program} PRIVATE ${OCTAVO_JEMALLOC})
  endif()
endfunction()
