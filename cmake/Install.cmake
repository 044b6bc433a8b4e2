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
    PATTERN "*-golden.json" EXCLUDE)  # what the tests compare with
  install(FILES LICENSE README.md CHANGELOG.md train/NOTICE DESTINATION "${paceline_doc}")
  install(DIRECTORY docs DESTINATION "${paceline_doc}")
  foreach(folder man bash-completion zsh fish)
    install(DIRECTORY "${CMAKE_BINARY_DIR}/share/${folder}" DESTINATION share OPTIONAL)
  endforeach()
endfunction()

# The manual page and the completions, printed by the program itself; a program for another machine
# cannot print any.
function(paceline_shell_files)
  if(CMAKE_CROSSCOMPILING)
    add_custom_target(shell-files)
    return()
  endif()
  set(files)
  foreach(item "man/man1/paceline.1=man" "bash-completion/completions/paceline=completions bash"
      "zsh/site-functions/_paceline=completions zsh"
      "fish/vendor_completions.d/paceline.fish=completions fish")
    string(REGEX REPLACE "^(.*)=(.*)$" "${CMAKE_BINARY_DIR}/share/\\1" file "${item}")
    string(REGEX REPLACE "^(.*)=(.*)$" "\\2" arguments "${item}")
    separate_arguments(arguments)
    get_filename_component(folder "${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${file}" COMMAND paceline ${arguments} > "${file}" DEPENDS paceline
      VERBATIM)
    list(APPEND files "${file}")
  endforeach()
  add_custom_target(shell-files ALL DEPENDS ${files})
endfunction()
