# The pinned llama.cpp: headers and prebuilt libraries as scripts/fetch-engine leaves them in
# PACELINE_ENGINE_DIR/{include,lib}. Nothing is downloaded here.

if(NOT EXISTS "${PACELINE_ENGINE_DIR}/include/include/llama.h")
  message(FATAL_ERROR
    "No llama.cpp in ${PACELINE_ENGINE_DIR}. Run scripts/fetch-engine first (make build does).")
endif()

set(lib "${PACELINE_ENGINE_DIR}/lib")
add_library(llama.cpp INTERFACE)
add_library(llama.cpp::llama.cpp ALIAS llama.cpp)
target_include_directories(llama.cpp SYSTEM INTERFACE
  "${PACELINE_ENGINE_DIR}/include/include"
  "${PACELINE_ENGINE_DIR}/include/ggml/include"
  "${PACELINE_ENGINE_DIR}/include/common"
  "${PACELINE_ENGINE_DIR}/include/src")
target_link_libraries(llama.cpp INTERFACE
  "${lib}/libllama-common.so" "${lib}/libllama.v0.5.0.so"
  "${lib}/libggml.v0.5.0.so" "${lib}/libggml-base.so")
target_link_options(llama.cpp INTERFACE "-Wl,-rpath,${lib}" "-Wl,-rpath-link,${lib}")
target_compile_definitions(llama.cpp INTERFACE PACELINE_BACKENDS_DIR="${lib}")
