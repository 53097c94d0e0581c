# Has PROGRAM read a LOG of 70 million bytes, in which one call is told of between lines of other kinds: it says on the error output how
# far it is, and finds the call. Read from a pipe, it does not know how much there is.
cmake_minimum_required(VERSION 3.24)

string(REPEAT "x" 9999 line)
string(REPEAT "${line}\n" 500 five_million)
set(call "\"gen_ai.tool.call.id\":\"call-17\",\"gen_ai.tool.name\":\"inventory_lookup\"")
file(WRITE ${LOG} "{\"encore.event\":\"attempt_started\",${call},\"encore.attempt\":1}\n")
foreach(part RANGE 1 14)
  file(APPEND ${LOG} "${five_million}")
endforeach()
file(APPEND ${LOG} "{\"encore.event\":\"attempt_succeeded\",${call},\"encore.attempt\":1}\n"
  "{\"encore.event\":\"call_finished\",${call},\"encore.attempts\":1,\"encore.reason\":\"succeeded\"}\n")

function(expect text wanted)
  if(NOT text MATCHES "${wanted}")
    message(FATAL_ERROR "it prints\n${text}\nwhere this is expected: ${wanted}")
  endif()
endfunction()
execute_process(COMMAND ${PROGRAM} ${LOG} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
execute_process(COMMAND ${PROGRAM} - INPUT_FILE ${LOG} OUTPUT_VARIABLE from_pipe ERROR_VARIABLE pipe_errors)
file(REMOVE ${LOG})
expect("${status}" "^0$")
expect("${errors}" "^retry_report: 64 of 70 MB of .*long.jsonl read\n$")
expect("${pipe_errors}" "^retry_report: 64 MB of the standard input read\n$")
expect("${printed}" "^inventory_lookup: 1 call, 1 attempt; 1 succeeded\n")
expect("${from_pipe}" "^inventory_lookup: 1 call, 1 attempt; 1 succeeded\n")
expect("${printed}" "\nLines that were not used: 7000 of 7003\n")
