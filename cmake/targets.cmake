# octavo_library(NAME DEPS ...): the static library octavo_NAME from all *.cc of this folder.
function(octavo_library name)
  cmake_parse_arguments(arg "" "" "DEPS;EXCLUDE" ${ARGN})
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
  octavo_precompile(octavo_${name} octavo_pch)
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

# octavo_vector_loops(NAME DRIVER FLAGS..): NAME_portable.cc, NAME_avx2.cc and NAME_avx512.cc of this
# folder hold the same plain loops, which the compiler turns into vectors of each instruction set;
# DRIVER chooses among them.  FLAGS are for AVX-512 besides.
function(octavo_vector_loops name driver)
  set(vectors -O3 -fno-trapping-math)
  set_source_files_properties(${driver} ${name}_portable.cc PROPERTIES COMPILE_OPTIONS "${vectors}")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Only these files may hold such instructions, so they include nothing that other files share.
    set_source_files_properties(${name}_avx2.cc PROPERTIES COMPILE_OPTIONS "${vectors};-mavx2")
    set_source_files_properties(${name}_avx512.cc PROPERTIES COMPILE_OPTIONS
      "${vectors};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;${ARGN}")
  endif()
endfunction()
