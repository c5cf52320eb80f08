# SPDX-License-Identifier: Apache-2.0
# What `cmake --install build --prefix DIR` puts where. Nothing that is installed knows DIR, so it
# may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/trundle)

install(TARGETS ${libraries} EXPORT trundle)
install(TARGETS trundle_cli)
install(FILES include/trundle/trundle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trundle)
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/trundle FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY docs/ examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${shell_files}/bash-completion ${shell_files}/zsh ${shell_files}/fish
        DESTINATION ${CMAKE_INSTALL_DATADIR})
install(FILES SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT trundle NAMESPACE trundle:: FILE trundleTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/trundleConfig.cmake.in trundleConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(trundleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/trundleConfig.cmake ${CMAKE_BINARY_DIR}/trundleConfigVersion.cmake
              cmake/dependencies.cmake DESTINATION ${package})

# The shared library knows what it needs; for the static one that is up to its users.
foreach(name ${trundle_dependencies} m ${CMAKE_DL_LIBS})
  string(APPEND pc_private " -l${name}")
endforeach()
set(pc_libs "")
set(pc_view "") # the shared library has reports and pictures in it
if(NOT TARGET trundle_shared)
  set(pc_libs "${pc_private}")
  set(pc_view "-ltrundle_view ")
endif()
file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/trundle.pc.in trundle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trundle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
