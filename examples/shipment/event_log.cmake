# Runs PROGRAM with --log and checks the JSON Lines it writes to LOG: one end for each call that it says it made, and an unknown
# outcome for each that it says was lost.
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${PROGRAM} --log ${LOG} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}\n${errors}")
endif()
if(NOT printed MATCHES "reconciled: ([0-9]+) had shipped, ([0-9]+) had not")
  message(FATAL_ERROR "it says nothing of what was reconciled\n${printed}")
endif()
math(EXPR calls "2 + 1000 + ${CMAKE_MATCH_2}")
math(EXPR unknown "1 + ${CMAKE_MATCH_1} + ${CMAKE_MATCH_2}")  # the first of the two orders shown one by one was lost, too

function(expect_lines count with)
  file(STRINGS ${LOG} lines REGEX "^{.*\"encore.event\":\"call_finished\".*${with}.*}$")
  list(LENGTH lines found)
  if(NOT found EQUAL count)
    message(FATAL_ERROR "${LOG} has ${found} lines with ${with}, and not ${count}")
  endif()
endfunction()
expect_lines(${calls} "\"gen_ai.tool.call.id\":\"call-[0-9ab]+(-again)*\"")
expect_lines(${unknown} "\"encore.outcome_unknown\":true")
