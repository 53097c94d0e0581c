# cmake -D TESTS=<tests> -P this: fails, with names, where a test outside of engine/ and detail/ names something of `detail`.
# Tests know behaviour: what users cannot name is tested with its own header, or by what it does.
cmake_minimum_required(VERSION 3.24)

file(GLOB_RECURSE files RELATIVE ${TESTS} ${TESTS}/*.cpp ${TESTS}/*.hpp)
list(FILTER files EXCLUDE REGEX "^(engine|detail)/")
if(NOT files)
  message(FATAL_ERROR "there is no test in ${TESTS}")
endif()
set(naming "")
foreach(file IN LISTS files)
  file(STRINGS ${TESTS}/${file} lines REGEX "(^|[^A-Za-z0-9_])detail::")
  if(lines)
    string(APPEND naming "\n  tests/${file}")
  endif()
endforeach()
if(naming)
  message(FATAL_ERROR "tests of behaviour that name what is internal, `detail::`:${naming}")
endif()
