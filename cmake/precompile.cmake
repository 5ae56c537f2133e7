# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: half of a small file's build time is the standard library's headers and fmt.
# OCTAVO_PCH=OFF builds without them, which shows an #include that is missing.
option(OCTAVO_PCH "precompile the standard library's headers" ON)

# octavo_links_grpc(TARGET RESULT): whether TARGET links gRPC, directly or not.
function(octavo_links_grpc target result)
  set(found OFF)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  foreach(library ${libraries})
    if(library MATCHES "^gRPC::" OR library STREQUAL "octavo_grpc")
      set(found ON)
    elseif(library MATCHES "^octavo_" AND NOT found)
      octavo_links_grpc(${library} found)
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# octavo_precompile(TARGET FROM): once all targets are known, lets TARGET reuse the header of FROM, or
# of FROM_grpc if it links gRPC, whose -pthread is part of a precompiled header.
# A precompiled header serves only files built with its own options, so others do without.
function(octavo_precompile target from)
  if(OCTAVO_PCH)
    # A deferred call's arguments are read when it runs, unless they are part of the code.
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL octavo_precompile_now ${target} ${from})")
  endif()
endfunction()

function(octavo_precompile_now target from)
  octavo_links_grpc(${target} grpc)
  if(grpc)
    set(from ${from}_grpc)
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(shared_options ${from} COMPILE_OPTIONS)
  if(NOT "${options}" STREQUAL "${shared_options}")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(special ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(special)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()

# octavo_precompiled(NAME KIND HEADER DEPS ...): a target whose precompiled header others of its kind
# (library or executable: their code is position independent in ways of their own) reuse.
function(octavo_precompiled name kind header)
  cmake_parse_arguments(arg "" "" "DEPS" ${ARGN})
  if(NOT OCTAVO_PCH)
    return()
  endif()
  if(kind STREQUAL "executable")
    add_executable(${name} ${CMAKE_SOURCE_DIR}/cmake/pch/empty.cc)
  else()
    add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch/empty.cc)
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_precompile_headers(${name} PRIVATE <cmake/pch/${header}>)
endfunction()
