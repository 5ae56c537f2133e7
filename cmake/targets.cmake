# SPDX-License-Identifier: Apache-2.0
# octavo_library(NAME DEPS ... [PRECOMPILED FROM]): the static library octavo_NAME from all *.cc of
# this folder; FROM has the precompiled header (octavo_precompile), octavo_pch by default.
function(octavo_library name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "DEPS;EXCLUDE" ${ARGN})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED octavo_pch)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc"
       "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cc")
  foreach(pattern ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  if(NOT sources)
    add_library(octavo_${name} INTERFACE)
    target_link_libraries(octavo_${name} INTERFACE ${arg_DEPS})
    return()
  endif()
  add_library(octavo_${name} STATIC ${sources})
  target_include_directories(octavo_${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(octavo_${name} PUBLIC ${arg_DEPS})
  if("${name}" IN_LIST OCTAVO_OPTIMIZED)
    target_compile_options(octavo_${name} PRIVATE -O1)
  endif()
  octavo_precompile(octavo_${name} ${arg_PRECOMPILED})
endfunction()

# octavo_test(NAME DEPS ...): one GoogleTest program from all *_test.cc of this folder; each of
# its tests is a ctest test of its own.
function(octavo_test name)
  cmake_parse_arguments(arg "" "" "DEPS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE
    OCTAVO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" OCTAVO_SHARED_DIR="${OCTAVO_SHARED}")
  target_link_libraries(${name}_test PRIVATE ${arg_DEPS} GTest::gmock_main)
  octavo_precompile(${name}_test octavo_test_pch)
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS "${name};${arg_LABELS}" TIMEOUT 300)
endfunction()

# octavo_vector_loops(LIBRARY NAME [OPTIONS ..] [AVX2 ..] [AVX512 ..]): compiles NAME.cc of this folder,
# which octavo_LIBRARY would hold once, three times into it: for any processor, for AVX2 and for
# AVX-512.  The macro OCTAVO_ISA is portable, avx2 or avx512, the namespace of what the file defines;
# ForIsa of core/base/cpu.h chooses among the three.  OPTIONS are for all of them, AVX2 and AVX512
# for one, after the instruction set.
#
# Only these objects may hold such instructions: a function of theirs with external linkage could
# stand in for another file's, on a processor that has them not.  So NAME.cc and what it includes
# have internal linkage and call no inline function of other files.  Where the processor is no x86,
# all three are compiled alike.
function(octavo_vector_loops library name)
  cmake_parse_arguments(arg "" "" "OPTIONS;AVX2;AVX512" ${ARGN})
  set(portable_options "")
  set(avx2_options "")
  set(avx512_options "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(avx2_options -mavx2 ${arg_AVX2})
    set(avx512_options -mavx512f -mavx512bw -mavx512dq -mavx512vl ${arg_AVX512})
  endif()
  get_target_property(sources octavo_${library} SOURCES)
  list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc")
  set_target_properties(octavo_${library} PROPERTIES SOURCES "${sources}")
  foreach(isa portable avx2 avx512)
    get_filename_component(stem ${name} NAME)
    set(object octavo_${library}_${stem}_${isa})
    add_library(${object} OBJECT ${name}.cc)
    target_include_directories(${object} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(${object} PRIVATE OCTAVO_ISA=${isa})
    target_compile_options(${object} PRIVATE $<TARGET_PROPERTY:octavo_${library},COMPILE_OPTIONS>
                                             ${arg_OPTIONS} ${${isa}_options})
    target_sources(octavo_${library} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()
