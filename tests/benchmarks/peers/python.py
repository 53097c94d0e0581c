# tenacity against a loop: success at the first attempt, and one delay with jitter. Prints library,path,by hand,library in ns.
import random
import statistics
import sys
import time

import tenacity


class TimeoutFailure(Exception):
    pass


def answer(question):
    if question < 0:
        raise TimeoutFailure
    return question + 1


def by_hand(question):
    retries = 0
    while True:
        try:
            return answer(question)
        except TimeoutFailure:
            if retries == 2:
                raise
        retries += 1


with_tenacity = tenacity.retry(
    retry=tenacity.retry_if_exception_type(TimeoutFailure),
    stop=tenacity.stop_after_attempt(3),
    wait=tenacity.wait_random_exponential(multiplier=1, max=60),
    reraise=True,
)(answer)

state = tenacity.RetryCallState(tenacity.Retrying(), None, (), {})
state.attempt_number = 3
wait = tenacity.wait_random_exponential(multiplier=1, max=60)


def delay_by_hand(_):
    return random.uniform(0, min(60, 2 ** (state.attempt_number - 1)))


def delay_with_tenacity(_):
    return wait(state)


def nanoseconds(function, times=2000):
    began = time.perf_counter_ns()
    for i in range(times):
        function(i)
    return (time.perf_counter_ns() - began) / times


def compare(path, hand, library):
    rounds = [(nanoseconds(hand), nanoseconds(library)) for _ in range(31)]
    hands, libraries = zip(*rounds)
    version = getattr(tenacity, "__version__", "8.2.1")
    print(f"tenacity {version},{path},{statistics.median(hands):.1f},{statistics.median(libraries):.1f}")


compare("success", by_hand, with_tenacity)
compare("one delay", delay_by_hand, delay_with_tenacity)
