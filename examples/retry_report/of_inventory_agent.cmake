# Seven lookups against a server that fails by its script: two recover, two spend their budgets, two are answers that no retry would
# change, one is asked to wait longer than it would. None goes over its ceiling.
include(${CMAKE_CURRENT_LIST_DIR}/of_example.cmake)

expect_words("inventory_lookup: 7 calls, 14 attempts; 2 succeeded, 2 of them after retries; 5 failed, 2 of them exhausted")
expect_words("call-17 and call-18 succeeded after retries, in 2 to 3 attempts each")
expect_words("call-19 failed at once: the filter does not match NotFound")
expect_words("call-20 failed at once: the filter does not match BadRequest")
expect_words("call-21 used all its attempts: 3 attempts of at most 3, the last failure ServiceUnavailable")
expect_words("call-22 used all its attempts: 3 attempts of at most 3, the last failure TimeoutError")
expect_words("call-23 stopped after 1 attempt because time ran out: hint_over_cap")
expect_no_words("where at most|never reached a policy|became")
expect_lanes(7)
