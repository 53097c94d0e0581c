# Header-only, so everything goes where files that fit every architecture go.
include(CMakePackageConfigHelpers)

set(encore_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/encore)
set(encore_pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(TARGETS encore EXPORT encore-targets
  FILE_SET HEADERS FILE_SET fmt_headers FILE_SET catch2_headers)
install(EXPORT encore-targets NAMESPACE encore:: DESTINATION ${encore_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/encore-config.cmake.in encore-config.cmake
  INSTALL_DESTINATION ${encore_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(encore-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

# pkg-config computes the prefix from where the file lies, so an installed tree can be moved.
file(RELATIVE_PATH encore_pc_prefix /prefix/${encore_pkgconfig_dir} /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/encore.pc.in encore.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/encore-fmt.pc.in encore-fmt.pc @ONLY)

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/encore-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/encore-config-version.cmake
  DESTINATION ${encore_package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/encore.pc ${CMAKE_CURRENT_BINARY_DIR}/encore-fmt.pc
  DESTINATION ${encore_pkgconfig_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/encore)
