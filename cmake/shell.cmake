# SPDX-License-Identifier: Apache-2.0
# Completion for shells and man pages, from the rows that the program reads its command line by.
set(shell_files ${CMAKE_BINARY_DIR}/share)
set(man_pages ${shell_files}/man/man1)
foreach(generator completion manual)
  add_executable(${generator} tools/${generator}.c)
  target_include_directories(${generator} PRIVATE include src)
endforeach()

# generate(FILE COMMAND...): what the command prints
function(generate file)
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${file} COMMAND ${ARGN} > ${file} DEPENDS ${ARGV1} VERBATIM)
  set_property(GLOBAL APPEND PROPERTY generated_for_shells ${file})
endfunction()

generate(${shell_files}/bash-completion/completions/trundle completion bash)
generate(${shell_files}/zsh/site-functions/_trundle completion zsh)
generate(${shell_files}/fish/vendor_completions.d/trundle.fish completion fish)
generate(${man_pages}/trundle.1 manual ${PROJECT_VERSION})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cli/verb.def)
file(STRINGS src/cli/verb.def rows REGEX "^VERB")
foreach(row ${rows})
  string(REGEX REPLACE "^VERB[^\"]*\"([a-z]+)\".*" "\\1" verb "${row}")
  generate(${man_pages}/trundle-${verb}.1 manual ${PROJECT_VERSION} ${verb})
endforeach()
get_property(generated GLOBAL PROPERTY generated_for_shells)
add_custom_target(shell_files ALL DEPENDS ${generated})
