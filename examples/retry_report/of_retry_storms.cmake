# Four storms, each stopped by what the example's table says, and none by the count of its attempts alone.
include(${CMAKE_CURRENT_LIST_DIR}/of_example.cmake)

# a permanently failed tool
expect_words("read_invoice-1, read_invoice-2 and read_invoice-3 failed at once: the filter does not match Unauthorized")
expect_words("read_invoice-4 was refused by a guard after 0 attempts: loop_detected")
# errors that look like results
expect_words("search: 10 calls, 9 attempts; 9 succeeded; 1 failed")
expect_words("search-10 was refused by a guard after 0 attempts: loop_detected")
# a cascade of 429
expect_words("plan_trip-1/get_rates and plan_trip-2/get_rates stopped after 1 attempt each because time ran out: hint_past_deadline")
expect_words("plan_trip-3/get_rates was refused by a guard after 0 attempts: circuit_open")
expect_words("plan_trip-4 was refused by a guard after 0 attempts: loop_detected")
# layers: they did not multiply
expect_words("stock-1, stock-2 and stock-3 used all their attempts: 4 attempts each of at most 4")
expect_words("stock-4 was refused by a guard after 0 attempts: loop_detected")
expect_no_words("became")
