# Precompiled headers for the sanitized builds: of a small file's time there, half is the standard
# library's headers.  GCC gains less, and warns falsely of the standard library's own code when that
# does not come from a system header's text; its builds also show an #include that is missing.
set(OCTAVO_PCH OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(OCTAVO_PCH ON)
endif()

# octavo_precompile(TARGET FROM): at the end of the folder, lets TARGET reuse the header of FROM.
# A precompiled header serves only files built with its own options, so others do without.
function(octavo_precompile target from)
  if(OCTAVO_PCH)
    # A deferred call's arguments are read when it runs, unless they are part of the code.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL octavo_precompile_now ${target} ${from})")
  endif()
endfunction()

function(octavo_precompile_now target from)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(shared_options ${from} COMPILE_OPTIONS)
  if(NOT "${options}" STREQUAL "${shared_options}")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(special ${source} COMPILE_OPTIONS)
    if(special)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
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
