#include <encore/scope.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::next_number;
using encore::Scope;

static_assert(Scope{1, 2} == Scope{1, 2} && Scope{1, 2} != Scope{2, 1} && Scope{1, 2} != Scope{1, 3});
static_assert(Scope{1, 2}.high() == 1 && Scope{1, 2}.low() == 2);

}  // namespace

TEST_CASE("a scope's text is 32 lower-case hexadecimal digits, the high half first [I2]", "[scope]") {
  CHECK(Scope{0x0123456789abcdef, 0xfedcba9876543210}.text() == "0123456789abcdeffedcba9876543210");
  CHECK(Scope{0, 1}.text() == "00000000000000000000000000000001");
}

TEST_CASE("random scopes differ in each half [I2]", "[scope]") {
  std::set<std::uint64_t> halves;
  for (int i = 0; i < 1'000; ++i) {
    const auto scope = Scope::random();
    halves.insert(scope.high());
    halves.insert(scope.low());
  }
  CHECK(halves.size() == 2'000);
}

TEST_CASE("every bit of a random scope is set in about half of the scopes [I2]", "[scope]") {
  // Of 4,096 throws of a coin between 1,744 and 2,352 are heads: 2,048, and 9.5 standard deviations of 32 to each side.
  std::array<int, 128> set_bits{};
  for (int i = 0; i < 4'096; ++i) {
    const auto scope = Scope::random();
    for (unsigned bit = 0; bit < 64; ++bit) {
      set_bits[bit] += static_cast<int>(scope.low() >> bit & 1U);
      set_bits[64 + bit] += static_cast<int>(scope.high() >> bit & 1U);
    }
  }
  CHECK(*std::min_element(set_bits.begin(), set_bits.end()) > 1'744);
  CHECK(*std::max_element(set_bits.begin(), set_bits.end()) < 2'352);
}

TEST_CASE("a process has one scope, whichever thread asks first [I2, L1]", "[scope][threads]") {
  std::array<std::string, 8> texts;
  std::vector<std::thread> threads;
  for (auto& text : texts) threads.emplace_back([&text] { text = Scope::process().text(); });
  for (auto& thread : threads) thread.join();
  for (const auto& text : texts) CHECK(text == Scope::process().text());
}

TEST_CASE("a scope draws from the system or from a test's source, which is not part of its value [I2]",
          "[scope]") {
  const Scope told{1, 2, [] { return std::uint64_t{7}; }};
  CHECK(told.draw() == 7);
  CHECK(told == Scope{1, 2});
  std::set<std::uint64_t> draws;
  for (int i = 0; i < 1'000; ++i) draws.insert(Scope{1, 2}.draw());
  CHECK(draws.size() == 1'000);
}

TEST_CASE("the process's call counter never gives a number twice [A4, L1]", "[scope][threads]") {
  std::array<std::vector<std::uint64_t>, 8> taken;
  std::vector<std::thread> threads;
  for (auto& numbers : taken)
    threads.emplace_back([&numbers] {
      for (int i = 0; i < 1'000; ++i) numbers.push_back(next_number());
    });
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& numbers : taken) {
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    all.insert(numbers.begin(), numbers.end());
  }
  CHECK(all.size() == 8'000);
  CHECK(*all.begin() > 0);
}

#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::string scope_in_a_fork(int generations = 1) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (; generations > 1; --generations) {
      static_cast<void>(Scope::process());
      if (const auto next = fork(); next != 0) {
        int status = 0;
        _exit(waitpid(next, &status, 0) == next ? status : 1);
      }
    }
    const auto own = Scope::process().text();
    _exit(write(ends[1], own.data(), own.size()) == 32 ? 0 : 1);
  }
  std::string text(32, ' ');
  CHECK(read(ends[0], text.data(), text.size()) == 32);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  close(ends[0]), close(ends[1]);
  return text;
}

}  // namespace

TEST_CASE(
    "forked workers have scopes of their own that contain nothing of the parent's, so a reused process id "
    "repeats no key [I2]",
    "[scope]") {
  const auto parent = Scope::process().text();
  std::set<std::string> halves{parent.substr(0, 16), parent.substr(16)};
  for (const auto generations : {1, 1, 2, 3}) {
    const auto child = scope_in_a_fork(generations);
    halves.insert(child.substr(0, 16));
    halves.insert(child.substr(16));
  }
  CHECK(halves.size() == 10);
  CHECK(Scope::process().text() == parent);
}
#endif
