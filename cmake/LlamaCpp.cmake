# llama.cpp as the target llama.cpp::llama.cpp: headers, libraries and three definitions that say
# which build they belong to (llama.cpp checks no ABI, so the worker checks by name at its start).
# PACELINE_ENGINE chooses where it comes from; each kind is a file in cmake/engine. Nothing is
# downloaded here.

set(PACELINE_ENGINE prebuilt CACHE STRING
  "Where llama.cpp comes from: prebuilt (npm), source (built here), system (PACELINE_LLAMA_DIR)")
set_property(CACHE PACELINE_ENGINE PROPERTY STRINGS prebuilt source system)
option(PACELINE_PEERS
  "Also build llama-server, llama-bench and llama-perplexity; needs PACELINE_ENGINE=source" OFF)

set(engines prebuilt source system)
if(NOT PACELINE_ENGINE IN_LIST engines)
  message(FATAL_ERROR "PACELINE_ENGINE=${PACELINE_ENGINE} is none of: prebuilt, source, system.")
endif()
if(PACELINE_PEERS AND NOT PACELINE_ENGINE STREQUAL "source")
  message(FATAL_ERROR "PACELINE_PEERS=ON builds programs from llama.cpp's source and needs "
    "PACELINE_ENGINE=source; PACELINE_ENGINE is ${PACELINE_ENGINE}.")
endif()

add_library(llama.cpp INTERFACE)
add_library(llama.cpp::llama.cpp ALIAS llama.cpp)
# Each sets llama_version, ggml_version and llama_build, and has_mtmd where libmtmd comes with it. A
# backends_folder that is not absolute is seen from libggml's own.
set(backends_folder ".")
set(has_mtmd FALSE)
include("${CMAKE_CURRENT_LIST_DIR}/engine/${PACELINE_ENGINE}.cmake")
target_compile_definitions(llama.cpp INTERFACE
  PACELINE_LLAMA_VERSION="${llama_version}" PACELINE_GGML_VERSION="${ggml_version}"
  PACELINE_LLAMA_BUILD="${llama_build}" PACELINE_BACKENDS_DIR="${backends_folder}"
  PACELINE_HAS_MTMD=$<BOOL:${has_mtmd}>)
message(STATUS
  "llama.cpp: ${PACELINE_ENGINE}, version ${llama_version}, build ${llama_build}, ggml ${ggml_version}")
