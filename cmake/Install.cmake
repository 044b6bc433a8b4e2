# Where things stand below a prefix. The build folder has the same layout (bin/, libexec/paceline/,
# share/paceline/), so that a program finds its own by one rule: from its place, never from a path
# that was compiled in.

set(paceline_libexec libexec/paceline)
set(paceline_share share/paceline)
set(paceline_doc share/doc/paceline)

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/${paceline_share}")
foreach(folder models workloads)
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}"
    "${CMAKE_BINARY_DIR}/${paceline_share}/${folder}" SYMBOLIC)
endforeach()

function(paceline_install)
  set_target_properties(paceline-worker PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${paceline_libexec}"
    INSTALL_RPATH "$ORIGIN${paceline_engine_rpath}")
  install(TARGETS paceline RUNTIME DESTINATION bin)
  install(TARGETS paceline-worker RUNTIME DESTINATION "${paceline_libexec}")
  install(DIRECTORY models workloads DESTINATION "${paceline_share}"
    PATTERN "dflash-golden.json" EXCLUDE)  # what the tests compare with
  install(FILES LICENSE README.md docs/DEFINITIONS.md docs/report.schema.json
    DESTINATION "${paceline_doc}")
  # The manual page and the completions, where they were made.
  foreach(folder man bash-completion zsh fish)
    install(DIRECTORY "${CMAKE_BINARY_DIR}/share/${folder}" DESTINATION share OPTIONAL)
  endforeach()
endfunction()
