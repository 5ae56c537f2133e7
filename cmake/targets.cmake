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
