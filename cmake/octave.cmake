# SPDX-License-Identifier: Apache-2.0
# trundle for Octave, in build/octave: a MEX file and the classes that call it. Octave loads it, and
# has the functions that it calls. Matlab's mex compiles the same sources (docs/octave.md).
find_program(MKOCTFILE mkoctfile)
if(NOT MKOCTFILE OR TR_SANITIZE OR TR_THREAD_SANITIZE OR TR_COVERAGE OR TR_FUZZ)
  return() # Octave is built without sanitizers
endif()
execute_process(COMMAND ${MKOCTFILE} -p OCTINCLUDEDIR OUTPUT_VARIABLE octave_headers
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT EXISTS "${octave_headers}/mex.h")
  message(STATUS "mex.h is missing: there is no trundle for Octave (tools/setup check installs it)")
  return()
endif()
set(octave_folder ${CMAKE_BINARY_DIR}/octave)
file(GLOB octave_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/octave/*.c)
add_library(trundle_mex MODULE ${octave_sources})
set_target_properties(trundle_mex PROPERTIES PREFIX "" SUFFIX ".mex" LIBRARY_OUTPUT_DIRECTORY ${octave_folder})
target_include_directories(trundle_mex SYSTEM PRIVATE ${octave_headers})
target_compile_options(trundle_mex PRIVATE -Wno-sign-conversion) # sizes are signed in Octave alone
target_link_libraries(trundle_mex PRIVATE trundle_view)
target_link_options(trundle_mex PRIVATE -Wl,--exclude-libs,ALL)
file(GLOB octave_classes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/octave/*.m)
add_custom_target(octave ALL COMMAND ${CMAKE_COMMAND} -E copy_if_different ${octave_classes} ${octave_folder}
                  DEPENDS trundle_mex)
install(TARGETS trundle_mex DESTINATION ${CMAKE_INSTALL_LIBDIR}/trundle/octave)
install(FILES ${octave_classes} DESTINATION ${CMAKE_INSTALL_LIBDIR}/trundle/octave)
