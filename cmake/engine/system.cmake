# A llama.cpp of the user's: PACELINE_LLAMA_DIR names its checkout (built in build/), a build folder,
# or a prefix it was installed to. What it says of itself at this moment is what the worker accepts
# later.

set(PACELINE_LLAMA_DIR "" CACHE PATH
  "With PACELINE_ENGINE=system: a checkout of llama.cpp with its build, or an install prefix")
set(dir "${PACELINE_LLAMA_DIR}")
if(NOT IS_DIRECTORY "${dir}")
  message(FATAL_ERROR "PACELINE_ENGINE=system needs PACELINE_LLAMA_DIR: a checkout of llama.cpp that "
    "was built in its build/, its build folder, or an install prefix. It is '${dir}', no folder.")
endif()

# llama_setting(NAME FILE RESULT): the value of set(NAME ...) in one of llama.cpp's package files.
function(llama_setting name file result)
  file(STRINGS "${file}" line REGEX "^set\\(${name} " LIMIT_COUNT 1)
  string(REGEX REPLACE "^set\\(${name} +\"?([^\")]*)\"?\\)" "\\1" value "${line}")
  if(value STREQUAL "")
    message(FATAL_ERROR "${file} has no ${name}: is this a whole llama.cpp?")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# Where its package files, libraries and source are; no source in an install.
set(source "")
if(EXISTS "${dir}/CMakeCache.txt" OR EXISTS "${dir}/build/CMakeCache.txt")
  set(build "${dir}")
  if(NOT EXISTS "${dir}/CMakeCache.txt")
    set(build "${dir}/build")
  endif()
  load_cache("${build}" READ_WITH_PREFIX llama_ CMAKE_HOME_DIRECTORY)
  set(source "${llama_CMAKE_HOME_DIRECTORY}")
  set(llama_config "${build}/llama-config.cmake")
  set(ggml_config "${build}/ggml/ggml-config.cmake")
  set(lib "${build}/bin")
else()
  file(GLOB llama_config "${dir}/lib*/cmake/llama/llama-config.cmake"
    "${dir}/lib/*/cmake/llama/llama-config.cmake")
  list(APPEND llama_config "${dir}/lib/cmake/llama/llama-config.cmake")
  list(GET llama_config 0 llama_config)
  get_filename_component(lib "${llama_config}/../../.." ABSOLUTE)
  set(ggml_config "${lib}/cmake/ggml/ggml-config.cmake")
endif()
foreach(file "${llama_config}" "${ggml_config}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "No llama.cpp in PACELINE_LLAMA_DIR=${dir}: it has neither a build "
      "(build/CMakeCache.txt and build/llama-config.cmake) nor an install "
      "(lib/cmake/llama/llama-config.cmake, lib/cmake/ggml/ggml-config.cmake).")
  endif()
endforeach()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${llama_config}" "${ggml_config}")
llama_setting(LLAMA_VERSION "${llama_config}" llama_version)
llama_setting(LLAMA_BUILD_NUMBER "${llama_config}" number)
llama_setting(LLAMA_BUILD_COMMIT "${llama_config}" commit)
llama_setting(GGML_VERSION "${ggml_config}" ggml_version)
set(llama_build "b${number}-${commit}")
if(NOT llama_version MATCHES "^0\\.5\\.0")
  message(WARNING "Paceline is written for llama.cpp 0.5.0; ${dir} is ${llama_version} and may not "
    "compile, or compile and mean something else.")
endif()

set(libraries "")
foreach(name llama-common llama ggml ggml-base)
  set(file "${lib}/lib${name}.so")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${file} is missing: build llama.cpp with -DBUILD_SHARED_LIBS=ON and "
      "-DLLAMA_BUILD_COMMON=ON (its defaults), then configure again.")
  endif()
  list(APPEND libraries "${file}")
endforeach()

# An install has llama.h and ggml.h but no internal headers (common/, src/llama-ext.h). Those of the
# pinned source fit one commit only: upstream's, or that of the bundle made from it.
if(source STREQUAL "")
  set(source "${PACELINE_ENGINE_DIR}/source")
  if(NOT EXISTS "${source}/common/speculative.h")
    set(source "${PACELINE_ENGINE_DIR}/include")
  endif()
  if(NOT EXISTS "${source}/common/speculative.h" OR NOT commit MATCHES "^(0ad4a86|de3ff81)")
    message(FATAL_ERROR "An install of llama.cpp has no internal headers (common/speculative.h and "
      "others). scripts/fetch-engine fetches those of build 0ad4a86; ${dir} is ${llama_build}. "
      "Run it, or let PACELINE_LLAMA_DIR name the checkout that was installed.")
  endif()
else()
  find_package(Git QUIET)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${source}" rev-parse --verify "${commit}^{commit}"
    OUTPUT_VARIABLE built OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${source}" rev-parse HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT built STREQUAL head)
    message(FATAL_ERROR "${source} has moved on since it was built (build ${llama_build}): its "
      "headers and libraries no longer belong together. Build it again, then configure again.")
  endif()
endif()

target_include_directories(llama.cpp SYSTEM INTERFACE
  "${source}/include" "${source}/ggml/include" "${source}/common" "${source}/src")
target_link_libraries(llama.cpp INTERFACE ${libraries})
# Installed libraries do not say where their own are: an RPATH, unlike a RUNPATH, holds for them too.
target_link_options(llama.cpp INTERFACE "-Wl,-rpath-link,${lib}" "-Wl,--disable-new-dtags")
set(paceline_engine_rpath ":${lib}")
# Backends that are loaded at run time are installed among the programs.
file(GLOB loadable "${dir}/bin/libggml-cpu*.so")
if(loadable AND NOT lib STREQUAL "${dir}/bin")
  set(backends_folder "${dir}/bin")
endif()
