# Where examples find the real libraries of their field: by find_package, else as the header or the pkg-config module
# that a distribution ships instead.

# encore_find_library(<target, as in spdlog::spdlog>): makes the target if the library is here.
function(encore_find_library target)
  if(TARGET ${target})
    return()
  endif()
  string(REGEX REPLACE "::.*" "" package ${target})
  if(target STREQUAL "SQLite::SQLite3")
    set(package SQLite3)
  endif()
  set(version "")
  if(package STREQUAL "Catch2")
    set(version 3)  # the headers of version 2 have other names
  endif()
  find_package(${package} ${version} QUIET GLOBAL)
  if(TARGET ${target})
    return()
  endif()

  if(target STREQUAL "httplib::httplib")
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(cpp_httplib QUIET IMPORTED_TARGET GLOBAL cpp-httplib)
    endif()
    if(TARGET PkgConfig::cpp_httplib)
      add_library(${target} ALIAS PkgConfig::cpp_httplib)
    endif()
  elseif(target STREQUAL "asio::asio")
    find_package(Threads QUIET)
    find_path(ENCORE_ASIO_FOLDER asio.hpp)
    if(ENCORE_ASIO_FOLDER AND Threads_FOUND)
      add_library(${target} INTERFACE IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${ENCORE_ASIO_FOLDER}
        INTERFACE_LINK_LIBRARIES "${CMAKE_THREAD_LIBS_INIT}")
      # Asio before 1.24 looks for Clang's coroutines under the name that they had before C++20.
      if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_definitions(${target} INTERFACE ASIO_HAS_CO_AWAIT ASIO_HAS_STD_COROUTINE)
      endif()
    endif()
  endif()
endfunction()
