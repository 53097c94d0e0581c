# Installs encore from its build folder, then configures, builds and tests the project SOURCE in a fresh folder BINARY.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${BINARY})
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "the project ${SOURCE} cannot be ${what}")
  endif()
endfunction()

set(config "")
if(CONFIG)
  set(config --config ${CONFIG})
endif()
run("given an installed encore" ${CMAKE_COMMAND} --install ${ENCORE} ${config} --prefix ${BINARY}/prefix)
run("configured" ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_PREFIX_PATH=${BINARY}/prefix;${SEARCH_PATH}")
run("built" ${CMAKE_COMMAND} --build ${BINARY}/build)
run("held to its contract" ${CMAKE_CTEST_COMMAND} --test-dir ${BINARY}/build --output-on-failure --no-tests=error)
