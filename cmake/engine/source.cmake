# Built from the pinned source that scripts/fetch-engine leaves in PACELINE_ENGINE_DIR/source, as a
# part of this build: every GGML_* option, compiler and toolchain setting of this configuration is
# llama.cpp's too without being handed on, and its static libraries leave one worker program to
# install. EXCLUDE_FROM_ALL builds, and installs, only what the worker and the peers need.

set(source "${PACELINE_ENGINE_DIR}/source")
if(NOT EXISTS "${source}/CMakeLists.txt")
  message(FATAL_ERROR "No source of llama.cpp in ${source}. "
    "Run PACELINE_ENGINE=source scripts/fetch-engine first (PACELINE_ENGINE=source make build does).")
endif()

# A function, so that nothing set for llama.cpp reaches our own targets and the other way round.
function(add_llama_cpp)
  unset(CMAKE_CXX_STANDARD)
  unset(CMAKE_CXX_EXTENSIONS)
  unset(CMAKE_CXX_FLAGS_RELEASE)
  # What its find modules find (OpenMP, CUDA) must be known where its static libraries are linked.
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  if(NOT DEFINED BUILD_SHARED_LIBS)
    set(BUILD_SHARED_LIBS OFF)  # GGML_BACKEND_DL needs -DBUILD_SHARED_LIBS=ON
  endif()
  set(LLAMA_BUILD_COMMON ON)
  set(LLAMA_BUILD_TOOLS ${PACELINE_PEERS})
  set(LLAMA_BUILD_MTMD ON CACHE BOOL "" FORCE)
  set(MTMD_VIDEO OFF CACHE BOOL "" FORCE)  # would start ffmpeg
  set(LLAMA_BUILD_SERVER ${PACELINE_PEERS})
  set(LLAMA_OPENSSL OFF)
  set(LLAMA_USE_PREBUILT_UI OFF)  # would be downloaded
  set(LLAMA_TOOLS_INSTALL OFF)
  add_subdirectory("${source}" "${CMAKE_BINARY_DIR}/llama.cpp" EXCLUDE_FROM_ALL SYSTEM)
endfunction()
add_llama_cpp()

get_directory_property(llama_version DIRECTORY "${source}" DEFINITION LLAMA_VERSION)
get_directory_property(ggml_version DIRECTORY "${source}/ggml" DEFINITION GGML_VERSION)
get_directory_property(number DIRECTORY "${source}" DEFINITION LLAMA_BUILD_NUMBER)
get_directory_property(commit DIRECTORY "${source}" DEFINITION LLAMA_BUILD_COMMIT)
set(llama_build "b${number}-${commit}")
set(has_mtmd TRUE)

target_include_directories(llama.cpp SYSTEM INTERFACE "${source}/src")
target_link_libraries(llama.cpp INTERFACE mtmd llama-common llama)

if(BUILD_SHARED_LIBS)
  set(libraries mtmd llama-common llama ggml ggml-base ${GGML_AVAILABLE_BACKENDS})
  set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${libraries} LIBRARY DESTINATION "${paceline_libexec}" NAMELINK_SKIP)
endif()
install(FILES "${source}/LICENSE" "${source}/AUTHORS" DESTINATION "${paceline_doc}/engine-licences")
install(DIRECTORY "${source}/licenses" DESTINATION "${paceline_doc}/engine-licences")

if(PACELINE_PEERS)
  add_custom_target(peers ALL)
  add_dependencies(peers llama-server llama-bench llama-perplexity)
endif()
