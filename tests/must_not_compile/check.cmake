# cmake -D FILE=<case.cpp> ... -P this: holds a case to what its first lines say. (For the other -D, see ../compile.cmake.)
#
#   // EXPECT: words that the compiler's message must contain
#   // FLAGS: -fno-exceptions
#   (more words to expect may follow, and all of them must be found; the line of flags may be left out)
#   #ifdef ENCORE_FIXED
#     the code as it should be
#   #else
#     the mistake
#   #endif
#
# The mistake must be refused with those words in the first error or in its notes: nobody reads further. A file's name
# and the source lines that a compiler quotes do not count. Of a mistake that users make often more is asked of GCC and Clang:
#   // EXPECT FIRST: words that the line of the first error must contain
# That line has no internal name then, and at most 20 lines follow it.
# With ENCORE_FIXED defined the same file must compile without
# a warning, so that the mistake is refused for the reason claimed and not for a missing include.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../compile.cmake)

file(STRINGS ${FILE} expectations REGEX "^// EXPECT( FIRST)?: ")
file(STRINGS ${FILE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// EXPECT( FIRST)?: ")
  message(FATAL_ERROR "${FILE}: the first line must be '// EXPECT: words of the message'")
endif()
file(STRINGS ${FILE} fixed REGEX "ENCORE_FIXED" LIMIT_COUNT 1)
if(NOT fixed)
  message(FATAL_ERROR "${FILE}: has no '#ifdef ENCORE_FIXED' with the code as it should be")
endif()

file(STRINGS ${FILE} flags REGEX "^// FLAGS: ")
string(REGEX REPLACE "^// FLAGS: +" "" flags "${flags}")
if(FRONTEND STREQUAL "MSVC")
  string(REPLACE "-fno-exceptions" "/EHs-c-" flags "${flags}")
  string(REPLACE "-fno-rtti" "/GR-" flags "${flags}")
  string(REPLACE "-Werror" "/WX" flags "${flags}")
  set(errors /WX)
else()
  set(errors -Werror)
endif()
separate_arguments(flags NATIVE_COMMAND "${flags}")

compile(status output ${FILE} ${flags})
if(status EQUAL 0)
  message(FATAL_ERROR "${FILE}: compiles, and must not")
endif()
string(REGEX REPLACE "(^|\n) *[0-9]* \\|[^\n]*" "\n" words "${output}")
string(REPLACE ${FILE} "" words "${words}")
string(FIND "${words}" ": error" first)
math(EXPR after_first "${first} + 1")
string(SUBSTRING "${words}" ${after_first} -1 rest)
string(FIND "${rest}" ": error" second)
if(NOT second EQUAL -1)
  math(EXPR length "${after_first} + ${second}")
  string(SUBSTRING "${words}" 0 ${length} words)
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// EXPECT( FIRST)?: +" "" expectation "${expectation}")
  string(FIND "${words}" "${expectation}" position)
  if(position EQUAL -1)
    message("${output}")
    message(FATAL_ERROR "${FILE}: is refused, but not with the words '${expectation}'")
  endif()
endforeach()

if(first_line MATCHES "^// EXPECT FIRST: +(.*)" AND NOT FRONTEND STREQUAL "MSVC")
  set(expectation "${CMAKE_MATCH_1}")
  string(REGEX MATCH ": (fatal )?error: [^\n]*" error_line "${output}")
  string(FIND "${error_line}" "${expectation}" position)
  if(position EQUAL -1)
    message("${output}")
    message(FATAL_ERROR "${FILE}: the line of the first error does not say '${expectation}'")
  endif()
  if(error_line MATCHES "detail::|shared::")
    message("${output}")
    message(FATAL_ERROR "${FILE}: the line of the first error has an internal name")
  endif()
  string(FIND "${output}" "${error_line}" position)
  string(SUBSTRING "${output}" ${position} -1 rest)
  string(REGEX REPLACE "[^\n]" "" rest "${rest}")
  string(LENGTH "${rest}" lines)  # the first ends the line of the error itself
  if(lines GREATER 21)
    message("${output}")
    message(FATAL_ERROR "${FILE}: more than 20 lines follow the first error")
  endif()
endif()

compile(status output ${FILE} ${flags} -DENCORE_FIXED ${errors})
if(NOT status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "${FILE}: does not compile cleanly with ENCORE_FIXED either")
endif()
