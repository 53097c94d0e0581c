# Runs PROGRAM with a second retry layer beneath encore: it must notice the requests that nobody traced, and end with 1.
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${PROGRAM} --client-retries RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
if(NOT status EQUAL 1)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}, and not with 1\n${printed}${errors}")
endif()
foreach(point IN ITEMS "each attempt of a call is one request" "the ordinals of a call's requests")
  string(FIND "${printed}" "  NO   ${point}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "it does not notice: ${point}\n${printed}")
  endif()
endforeach()
