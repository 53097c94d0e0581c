# Runs PROGRAM on LOG, whose fields have other names than encore's if it is FOREIGN, and compares what it prints with the file
# beside it.
cmake_minimum_required(VERSION 3.24)

if(FOREIGN)
  list(APPEND PROGRAM --max-attempts 3 --field timestamp=ts --field call=tool_call_id --field tool=tool --field attempt=try
    --field error=exception --field status=status --field took=seconds)
endif()
list(APPEND PROGRAM ${LOG})
string(REGEX REPLACE "jsonl$" "expected" EXPECTED ${LOG})
if(NOT EXISTS ${EXPECTED})
  message(FATAL_ERROR "there is no ${EXPECTED}")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/../run_and_compare.cmake)
