// A healthy breaker and a full budget, shared: gate P10. Prints `value,<gate>,<path>,<who>,<value>` lines.
#include "service.hpp"
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>
#include <thread>
#include <vector>

using namespace benchmarks;

// ---- Does a success write? -----------------------------------------------------------------------------------------------

struct Guards {
  encore::CircuitBreaker breaker;
  encore::RetryBudget budget;
};

static void* page = nullptr;
static constexpr std::size_t page_size = 4096;
static_assert(sizeof(Guards) <= page_size);
static volatile std::sig_atomic_t writes = 0;

// The first write of a call ends here and is let through; the next call finds the page protected again.
static void note_write(int, siginfo_t*, void*) {
  writes = writes + 1;
  mprotect(page, page_size, PROT_READ | PROT_WRITE);
}

template <class Policy>
static long count_writes(const Policy& policy, int calls) {
  writes = 0;
  for (int i = 0; i < calls; ++i) {
    mprotect(page, page_size, PROT_READ);
    policy.run([i] { return answer(i); });
  }
  mprotect(page, page_size, PROT_READ | PROT_WRITE);
  return writes;
}

// ---- Do two threads slow each other down? --------------------------------------------------------------------------------

static double cpu_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// Of a thread's own time, so that the machine's other work counts for little: nanoseconds a call.
template <class Call>
static double nanoseconds_a_call(int threads, Call call) {
  constexpr int calls = 200'000;
  std::barrier start{threads};
  std::vector<double> each(static_cast<std::size_t>(threads));
  std::vector<std::jthread> running;
  for (auto& result : each)
    running.emplace_back([&] {
      start.arrive_and_wait();
      const auto began = cpu_nanoseconds();
      for (int i = 0; i < calls; ++i) call(i);
      result = (cpu_nanoseconds() - began) / calls;
    });
  running.clear();
  return *std::max_element(each.begin(), each.end());
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <class Call>
static void compare_threads(const char* gate, const char* path, int threads, Call call) {
  std::vector<double> alone, together;
  for (int round = 0; round < 21; ++round) {
    alone.push_back(nanoseconds_a_call(1, call));
    together.push_back(nanoseconds_a_call(threads, call));
  }
  std::printf("value,%s,%s,hand,%.2f\nvalue,%s,%s,encore,%.2f\n", gate, path, median(alone), gate, path,
              median(together));
}

int main() {
  page = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  auto& guards = *::new (page) Guards;
  struct sigaction action{};
  action.sa_sigaction = note_write;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);

  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}, guards.breaker,
                                   guards.budget};
  // While the budget fills each success writes, and is seen to; full, it must not.
  if (count_writes(policy, 100) != 100) return 1;
  for (int i = 0; i < 2'000; ++i) policy.run([i] { return answer(i); });
  std::printf("value,P10,writes of 1000 successes,encore,%ld\n", count_writes(policy, 1'000));

  const auto call = [&](int i) { return policy.run([i] { return answer(i); }); };
  compare_threads("P10", "nanoseconds: two threads against one", 2, call);
  compare_threads("growth", "nanoseconds: eight threads against one", 8, call);
}
