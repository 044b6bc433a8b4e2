# One static library per folder of src/, one program per main.cpp.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Nothing hot is ours: -O2 builds faster than CMake's -O3 and measures the same. What only reads and
# writes text, before a run or after it, is built faster still.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(PACELINE_NEVER_TIMED cli dialect document model protocol report synth workload)

add_library(paceline_options INTERFACE)
target_compile_options(paceline_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  # Files that are compiled together see one another's own names.
  $<IF:$<AND:$<BOOL:${PACELINE_TOGETHER}>,$<CXX_COMPILER_ID:GNU>>,-Wshadow=local,-Wshadow>
  # What an assertion prints names a file of the project, not a folder of whoever built it.
  "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/="
  # GCC 12 sees overlapping copies in "literal" + std::string (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${PACELINE_WERROR}>:-Werror>)
target_compile_definitions(paceline_options INTERFACE PACELINE_VERSION="${PROJECT_VERSION}")
if(PACELINE_FUZZ)
  target_compile_options(paceline_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(PACELINE_SANITIZE)
  # Sanitizing makes GCC warn of variables that are set: its manual advises against both together.
  target_compile_options(paceline_options INTERFACE
    -fsanitize=${PACELINE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(paceline_options INTERFACE -fsanitize=${PACELINE_SANITIZE})
endif()

# paceline_library(FOLDER DEPENDENCY...): every source in src/FOLDER but a program's main.cpp.
function(paceline_library folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp")
  list(REMOVE_ITEM sources "${CMAKE_SOURCE_DIR}/src/${folder}/main.cpp")
  if(sources)
    add_library(paceline_${folder} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(paceline_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(paceline::${folder} ALIAS paceline_${folder})
  target_include_directories(paceline_${folder} ${scope} "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(paceline_${folder} ${scope} paceline_options Threads::Threads ${ARGN})
  if(sources)
    paceline_precompile(${folder})
    paceline_together(paceline_${folder})
    if(folder IN_LIST PACELINE_NEVER_TIMED)
      # At -O1 GCC 12 warns falsely of reads and writes past a moved string's own short buffer.
      target_compile_options(paceline_${folder} PRIVATE
        $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds
        -Wno-stringop-overread -Wno-stringop-overflow>)
    endif()
  endif()
endfunction()

# paceline_together(TARGET): its sources of one folder are compiled as one, but those in
# PACELINE_ALONE and in folders that are.
include(SourcesAlone)
function(paceline_together target)
  if(NOT PACELINE_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}" "${source}")
    get_filename_component(folder "${name}" DIRECTORY)
    string(REPLACE "/" "_" group "${folder}")
    if(NOT name IN_LIST PACELINE_ALONE AND NOT folder IN_LIST PACELINE_ALONE)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# The headers that cost most to read are read once, for util, and used again by all others; CLI11,
# which costs more than the rest, by cli alone.
set(PACELINE_COSTLY_HEADERS
  <algorithm> <map> <optional> <string> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
function(paceline_precompile folder)
  if(folder STREQUAL "util")
    target_precompile_headers(paceline_util PRIVATE ${PACELINE_COSTLY_HEADERS})
  elseif(folder STREQUAL "cli")
    target_precompile_headers(paceline_cli PRIVATE ${PACELINE_COSTLY_HEADERS} <CLI/CLI.hpp>)
  else()
    target_precompile_headers(paceline_${folder} REUSE_FROM paceline_util)
  endif()
endfunction()

function(paceline_program name source)
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE ${ARGN})
endfunction()
