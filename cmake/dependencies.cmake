# What encore::fmt and encore's own tests and examples need is taken from the machine where it is there. For the tests and
# examples alone it is else fetched by FetchContent, which FETCHCONTENT_FULLY_DISCONNECTED or FETCHCONTENT_SOURCE_DIR_<NAME>
# redirects as usual. Each says what it did.
include(FetchContent)

# Warnings in a fetched library's headers are its own affair (FetchContent's SYSTEM would say so, from CMake 3.25 on).
function(encore_silence_headers_of target)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
endfunction()

# Makes fmt::fmt where it can, for encore::fmt; encore::encore does without it.
macro(encore_find_fmt)
  if(NOT TARGET fmt::fmt)
    find_package(fmt 9 QUIET GLOBAL)
  endif()
  if(TARGET fmt::fmt)
    message(STATUS "encore: encore::fmt uses the fmt that is here ${fmt_VERSION}")
  elseif(NOT ENCORE_BUILD_TESTS AND NOT ENCORE_BUILD_EXAMPLES)
    message(STATUS "encore: found no fmt 9 or newer, so there is encore::encore, and no encore::fmt")
  else()
    message(STATUS "encore: found no fmt 9 or newer, so fetches its source for the tests and examples")
    set(FMT_INSTALL ON)  # their own projects find it beside the encore that they install
    FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 11.1.4 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(fmt)
    encore_silence_headers_of(fmt)
  endif()
endmacro()

# Makes Catch2::Catch2WithMain and catch_discover_tests, for encore's own tests only.
macro(encore_find_catch2)
  if(NOT TARGET Catch2::Catch2WithMain)
    find_package(Catch2 3 QUIET)
  endif()
  if(TARGET Catch2::Catch2WithMain)
    message(STATUS "encore: tests use the Catch2 that is here ${Catch2_VERSION}")
  else()
    message(STATUS "encore: found no Catch2 3, so fetches its source for the tests")
    FetchContent_Declare(Catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.7.1 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(Catch2)
    encore_silence_headers_of(Catch2)
    list(APPEND CMAKE_MODULE_PATH ${Catch2_SOURCE_DIR}/extras)
  endif()
  include(Catch)
endmacro()
