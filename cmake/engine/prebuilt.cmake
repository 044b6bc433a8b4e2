# Headers and prebuilt libraries as scripts/fetch-engine leaves them in PACELINE_ENGINE_DIR.

if(NOT EXISTS "${PACELINE_ENGINE_DIR}/include/include/llama.h")
  message(FATAL_ERROR
    "No llama.cpp in ${PACELINE_ENGINE_DIR}. Run scripts/fetch-engine first (make build does).")
endif()

# node-llama-cpp builds from upstream's commit; its own source bundle, squashed, has another.
set(llama_version "0.5.0-dev")
set(ggml_version "0.25.1")
set(llama_build "b1-0ad4a86")

# Of the GPU variants the names hold the device: libllama.cuda.v0.5.0.so.
set(lib "${PACELINE_ENGINE_DIR}/lib")
set(libraries "${lib}/libllama-common.so" "${lib}/libggml-base.so")
foreach(name llama ggml)
  file(GLOB found "${lib}/lib${name}.*v0.5.0.so")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${lib} has ${count} files like lib${name}.*v0.5.0.so and must have one: "
      "run scripts/fetch-engine again.")
  endif()
  list(APPEND libraries "${found}")
endforeach()

target_include_directories(llama.cpp SYSTEM INTERFACE
  "${PACELINE_ENGINE_DIR}/include/include" "${PACELINE_ENGINE_DIR}/include/ggml/include"
  "${PACELINE_ENGINE_DIR}/include/common" "${PACELINE_ENGINE_DIR}/include/src")
target_link_libraries(llama.cpp INTERFACE ${libraries})
target_link_options(llama.cpp INTERFACE "-Wl,-rpath-link,${lib}")

# Another variant has libraries of other names.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PACELINE_ENGINE_DIR}/fetched")

# They find one another by their own $ORIGIN, and their backends beside libggml.
install(DIRECTORY "${lib}/" DESTINATION "${paceline_libexec}" FILES_MATCHING PATTERN "*.so")
install(DIRECTORY "${PACELINE_ENGINE_DIR}/licenses/" DESTINATION "${paceline_doc}/engine-licences")
