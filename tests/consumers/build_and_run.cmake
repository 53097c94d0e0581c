# Configures, builds and runs the consumer project SOURCE in a fresh folder BINARY; with MUST_SAY its configuration must
# instead end with an error that has those words.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${BINARY})

list(TRANSFORM DEFINE PREPEND -D)
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${CONFIG}
    "-DCMAKE_PREFIX_PATH=${SEARCH_PATH}" ${DEFINE}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " words "${output}")

if(MUST_SAY)
  if(status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} was configured, and should have been refused")
  elseif(NOT words MATCHES "${MUST_SAY}")
    message("${output}")
    message(FATAL_ERROR "${SOURCE} was refused, but not with the words '${MUST_SAY}'")
  endif()
  return()
endif()

if(NOT status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "${SOURCE} cannot be configured")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} --config "${CONFIG}" --target run_consumer
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "${SOURCE} cannot be built, or does not run")
endif()
