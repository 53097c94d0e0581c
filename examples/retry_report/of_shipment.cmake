# Orders whose answers are lost: what was sent and never answered has to be reconciled, and what was sent again had a key.
include(${CMAKE_CURRENT_LIST_DIR}/of_example.cmake)

if(NOT of_example MATCHES "reconciled: ([0-9]+) had shipped, ([0-9]+) had not")
  message(FATAL_ERROR "the example says nothing of what was reconciled\n${of_example}")
endif()
math(EXPR unknown "1 + ${CMAKE_MATCH_1} + ${CMAKE_MATCH_2}")  # the first of the two orders shown one by one was lost, too

set(found 0)
string(REGEX MATCHALL "[a-z0-9_, -]+ and [0-9]+ more: sent and never answered, so the action may have been done" lines "${said}")
foreach(line IN LISTS lines)
  string(REGEX MATCHALL "call-" named "${line}")
  list(LENGTH named named)
  string(REGEX REPLACE ".* and ([0-9]+) more:.*" "\\1" more "${line}")
  math(EXPR found "${found} + ${named} + ${more}")
endforeach()
if(NOT found EQUAL unknown)
  message(FATAL_ERROR "it knows of ${found} unknown outcomes, and not of ${unknown}\n${said}")
endif()
expect_words("Reconcile it: look the action up at the dependency by its operation key before you repeat it.")
expect_words("and another followed with an idempotency key")
expect_no_words("ship_without_key[^\n]*and another followed")
expect_no_words("nothing tells of an idempotency key")
expect_lanes(60)

# A thousand calls and more make no longer page than sixty.
string(LENGTH "${html}" size)
if(size GREATER 300000 OR NOT html MATCHES "<b>60 of [0-9]+ calls are drawn</b>")
  message(FATAL_ERROR "the page has ${size} bytes, or does not say how many calls it leaves out")
endif()
