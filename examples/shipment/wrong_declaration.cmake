# Runs PROGRAM with the tool without a key declared as repeatable: it must notice the orders shipped twice, and end with 1.
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${PROGRAM} --repeat-anyway RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
if(NOT status EQUAL 1)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}, and not with 1\n${printed}${errors}")
endif()
if(NOT printed MATCHES "  NO   ledger and results are equal: [1-9][0-9]* orders shipped twice, 0 lost")
  message(FATAL_ERROR "it does not notice the orders shipped twice\n${printed}")
endif()
