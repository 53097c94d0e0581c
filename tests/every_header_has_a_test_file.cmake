# cmake -D HEADERS=<include/encore> -D TESTS=<tests> -P this: fails, with names, unless each header a/b.hpp has a test file:
# a/b.cpp, or detail/a/b.cpp where all of the header is internal. Headers in engine/ and detail/ need none of their own name.
cmake_minimum_required(VERSION 3.24)

file(GLOB_RECURSE headers RELATIVE ${HEADERS} ${HEADERS}/*.hpp)
list(FILTER headers EXCLUDE REGEX "^(engine|detail)/")
if(NOT headers)
  message(FATAL_ERROR "there is no header in ${HEADERS}")
endif()
set(missing "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" test ${header})
  if(NOT EXISTS ${TESTS}/${test} AND NOT EXISTS ${TESTS}/detail/${test})
    string(APPEND missing "\n  include/encore/${header} has no tests/${test}")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "headers without a test file of the same name:${missing}")
endif()
