# For the test scripts that call a compiler themselves. They are run with
#   -D COMPILER=<path> -D FRONTEND=<GNU or MSVC> -D INCLUDES=<folders of encore and what it links> -D WARNINGS=<flags>

# compile(<status variable> <output variable> <source> [flags...]): only checks, unless the flags say what to make.
function(compile status output source)
  set(command ${COMPILER})
  if(FRONTEND STREQUAL "MSVC")
    list(APPEND command /nologo /std:c++20 /EHsc /Zs)
  else()
    list(APPEND command -std=c++20)
    if(NOT "-o" IN_LIST ARGN)
      list(APPEND command -fsyntax-only)
    endif()
  endif()
  foreach(folder IN LISTS INCLUDES)
    if(NOT folder STREQUAL "/usr/include")
      list(APPEND command -I${folder})
    endif()
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${command} ${WARNINGS} ${ARGN} ${source}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${status} ${result} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()
