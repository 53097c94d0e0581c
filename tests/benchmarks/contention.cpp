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
#include <utility>
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

// ---- Do threads that share their guards slow each other down? -------------------------------------------------------------

static double cpu_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

static auto policy_with(Guards& guards) {
  return encore::RetryPolicy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}, guards.breaker,
                             guards.budget};
}

// Of a thread's own time, so that the machine's other work counts for little: nanoseconds a call, of the threads the middle
// one. Each thread has the guards that `guards_of` gives its number.
template <class GuardsOf>
static double nanoseconds_a_call(int threads, GuardsOf guards_of) {
  constexpr int calls = 200'000;
  std::barrier start{threads};
  std::vector<double> each(static_cast<std::size_t>(threads));
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      const auto policy = policy_with(guards_of(thread));
      start.arrive_and_wait();
      const auto began = cpu_nanoseconds();
      for (int i = 0; i < calls; ++i) policy.run([i] { return answer(i); });
      each[static_cast<std::size_t>(thread)] = (cpu_nanoseconds() - began) / calls;
    });
  running.clear();
  return median(std::move(each));
}

static void fill(Guards& guards) {
  const auto policy = policy_with(guards);
  for (int i = 0; i < 2'000; ++i) policy.run([i] { return answer(i); });
}

// Beside threads that share nothing, not beside one alone: two threads of one core slow each other down without sharing.
static void compare_threads(const char* gate, const char* path, int threads, Guards& shared) {
  struct alignas(256) Own {
    Guards guards;
  };
  std::vector<Own> own(static_cast<std::size_t>(threads));
  for (auto& one : own) fill(one.guards);
  std::vector<double> apart, together;
  for (int round = 0; round < 21; ++round) {
    apart.push_back(nanoseconds_a_call(
        threads, [&](int thread) -> Guards& { return own[static_cast<std::size_t>(thread)].guards; }));
    together.push_back(nanoseconds_a_call(threads, [&](int) -> Guards& { return shared; }));
  }
  std::printf("value,%s,%s,hand,%.2f\nvalue,%s,%s,encore,%.2f\n", gate, path, median(apart), gate, path,
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

  const auto policy = policy_with(guards);
  // While the budget fills each success writes, and is seen to; full, it must not.
  if (count_writes(policy, 100) != 100) return 1;
  fill(guards);
  std::printf("value,P10,writes of 1000 successes,encore,%ld\n", count_writes(policy, 1'000));

  compare_threads("P10", "nanoseconds: two threads that share", 2, guards);
  compare_threads("growth", "nanoseconds: eight threads that share", 8, guards);
}
