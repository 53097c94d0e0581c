# The harness is itself held to account: each way in which a case can be wrong must be noticed, and a good one pass.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

# expect(<what must be said of the case, or nothing for a good one> <the case>)
function(expect complaint text)
  file(WRITE ${SCRATCH}/case.cpp "${text}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D COMPILER=${COMPILER} -D FRONTEND=${FRONTEND} "-DINCLUDES=${INCLUDES}" "-DWARNINGS=${WARNINGS}"
      -D FILE=${SCRATCH}/case.cpp -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(complaint STREQUAL "")
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "a good case was refused: ${output}\n${text}")
    endif()
  elseif(status EQUAL 0)
    message(FATAL_ERROR "nobody said '${complaint}' of this case:\n${text}")
  elseif(NOT output MATCHES "${complaint}")
    message(FATAL_ERROR "not '${complaint}' but something else was said: ${output}\n${text}")
  endif()
endfunction()

set(why "// EXPECT: no version is negative\n")
set(include "#include <encore/version.hpp>\n")
set(fixed "#ifdef ENCORE_FIXED\nint one = encore::version.minor_number;\n#else\n")
set(mistake "static_assert(encore::version.minor_number < 0, \"no version is negative\");\n#endif\n")

expect("" "${why}${include}${fixed}${mistake}")
expect("" "// EXPECT: shadow\n// FLAGS: -Werror -DNAME=shadow\n${include}${fixed}int f(int NAME);\nint f(int NAME) { { int NAME = 1; return NAME; } }\n#endif\n")
expect("compiles, and must not" "// EXPECT: shadow\n${include}${fixed}int f(int a) { { int a = 1; return a; } }\n#endif\n")
expect("must be '// EXPECT" "${include}${why}${fixed}${mistake}")
expect("has no '#ifdef ENCORE_FIXED'" "${why}${include}#if 1\n${mistake}")
expect("compiles, and must not" "${why}${include}${fixed}int two = 2;\n#endif\n")
expect("not with the words" "// EXPECT: another reason\n${include}${fixed}${mistake}")
expect("not with the words" "${why}// EXPECT: another reason\n${include}${fixed}${mistake}")
expect("not with the words" "${why}${include}${fixed}static_assert(encore::version.minor_number < 0);\n${mistake}")
expect("" "${why}${include}${fixed}static_assert(encore::version.minor_number < 0, \"no version is negative\");\nint other = nothing;\n#endif\n")
expect("not with the words" "// EXPECT: case.cpp\n${include}${fixed}${mistake}")
expect("not with the words" "// EXPECT: int quoted\n${include}${fixed}int quoted = encore::nothing;\n#endif\n")
expect("does not compile cleanly" "${why}${fixed}static_assert(false, \"no version is negative\");\n#endif\n")
