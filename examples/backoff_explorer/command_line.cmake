# Runs PROGRAM with a policy, with a page to write into FOLDER, and with mistakes.
cmake_minimum_required(VERSION 3.24)

function(run expected_status)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
  if(NOT status EQUAL expected_status)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} ended with ${status}, not ${expected_status}\n${printed}\n${errors}")
  endif()
  set(printed "${printed}" PARENT_SCOPE)
  set(errors "${errors}" PARENT_SCOPE)
endfunction()

# 250 ms, doubled, a quarter shorter or longer.
run(0 --initial-delay 250ms --max-retries 3)
if(NOT printed STREQUAL "\
exponential backoff from 0.25 s, factor 2, at most 60 s, proportional jitter of 25 %, 3 retries
  s              min    median       max
  retry 1     0.1875      0.25    0.3125
  retry 2      0.375       0.5     0.625
  retry 3       0.75         1      1.25
  in all       1.312      1.75     2.188
")
  message(FATAL_ERROR "printed for a policy:\n${printed}")
endif()

run(0 --html ${FOLDER}/page.html)
file(READ ${FOLDER}/page.html page)
if(NOT page MATCHES "^<!DOCTYPE html>.*<section id=\"outage\">.*</html>\n$")
  message(FATAL_ERROR "${FOLDER}/page.html is no whole page")
endif()

run(0 --help)
foreach(option IN ITEMS --backoff --initial-delay --jitter --max-retries --html)
  if(NOT printed MATCHES "\n  ${option} ")
    message(FATAL_ERROR "--help does not tell of ${option}")
  endif()
endforeach()

run(2 --initial-delay 5parsecs)
if(NOT errors MATCHES "^backoff_explorer: --initial-delay 5parsecs: a time is a number and a unit.*\nusage: ")
  message(FATAL_ERROR "of a mistake is said: ${errors}")
endif()
run(2 --html ${FOLDER}/no_such_folder/page.html)
if(NOT errors MATCHES "^backoff_explorer: --html .*page.html: this file cannot be written")
  message(FATAL_ERROR "of a file that cannot be written is said: ${errors}")
endif()
