#include <encore/random.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::fresh_stream;
using encore::mix;
using encore::Random;
using encore::stream_of;

/// What a word of SplitMix64 is as a draw: its upper 53 bits, as a fraction.
constexpr double as_draw(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// The first outputs of Sebastiano Vigna's splitmix64.c from the state 1234567, as published with many ports of it.
constexpr std::array<std::uint64_t, 5> published{6'457'827'717'110'365'317U, 3'203'168'211'198'807'973U,
                                                 9'817'491'932'198'370'423U, 4'593'380'528'125'082'431U,
                                                 16'408'922'859'458'223'821U};
constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;

// The state goes on by the golden ratio, and the output is the mixed state.
static_assert(mix(1'234'567 + golden_ratio) == published[0]);
static_assert(mix(1'234'567 + 2 * golden_ratio) == published[1]);
static_assert(sizeof(Random) == 8);

std::vector<double> draws_of(Random random, int count) {
  std::vector<double> draws;
  for (int i = 0; i < count; ++i) draws.push_back(random.draw());
  return draws;
}

}  // namespace

TEST_CASE("draws are the published SplitMix64, as fractions [C8]", "[random]") {
  Random random{1'234'567};
  for (const std::uint64_t word : published) CHECK(random.draw() == as_draw(word));
}

TEST_CASE("a draw is at least 0 and less than 1, at both ends of the generator's words [C2]", "[random]") {
  STATIC_CHECK(as_draw(0) == 0.0);
  STATIC_CHECK(as_draw(~std::uint64_t{}) < 1.0);
  Random from_zero{0 - golden_ratio};  // its first word is mix(0) = 0
  CHECK(from_zero.draw() == 0.0);
  const auto draws = draws_of(Random{42}, 100'000);
  CHECK(*std::min_element(draws.begin(), draws.end()) >= 0.0);
  CHECK(*std::max_element(draws.begin(), draws.end()) < 1.0);
}

TEST_CASE("draws are uniform [C8]", "[random]") {
  // Chi-square over 64 bins of 100,000 draws: 63 degrees of freedom, mean 63, standard deviation sqrt(126) = 11.2.
  // A uniform stream exceeds 63 + 5 * 11.2 = 119 once in some 50,000 seeds, and falls under 63 - 5 * 11.2 = 7, as only a
  // stream that is too even does, still more rarely.
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'234'567}, ~std::uint64_t{}}) {
    CAPTURE(seed);
    std::array<int, 64> bins{};
    for (const double draw : draws_of(Random{seed}, 100'000)) ++bins[static_cast<std::size_t>(draw * 64)];
    double chi_square = 0;
    constexpr double expected = 100'000.0 / 64;
    for (const int count : bins) chi_square += (count - expected) * (count - expected) / expected;
    CHECK(chi_square < 119);
    CHECK(chi_square > 7);
  }
}

TEST_CASE("first draws of neighbouring streams are uniform too: calls are numbered in turn [C8]",
          "[random]") {
  // The same bound, over the first draw of 100,000 streams whose seeds differ by one.
  std::array<int, 64> bins{};
  for (std::uint64_t seed = 0; seed < 100'000; ++seed)
    ++bins[static_cast<std::size_t>(Random{stream_of(seed, "call_0")}.draw() * 64)];
  double chi_square = 0;
  constexpr double expected = 100'000.0 / 64;
  for (const int count : bins) chi_square += (count - expected) * (count - expected) / expected;
  CHECK(chi_square < 119);
  CHECK(chi_square > 7);
}

TEST_CASE("a stream is a function of seed and call id alone [C8]", "[random]") {
  // 64-bit FNV-1a, by its authors' published test vectors: "" and "foobar".
  STATIC_CHECK(stream_of(7, "") == mix(mix(7) ^ 0xcbf29ce484222325U));
  STATIC_CHECK(stream_of(7, "foobar") == mix(mix(7) ^ 0x85944171f73967e8U));
  // A byte over 127 counts as what it is: (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3.
  STATIC_CHECK(stream_of(7, "\xff") == mix(mix(7) ^ 0xaf64724c8602eb6eU));
  const std::string id{"call-17"};
  CHECK(draws_of(Random{stream_of(7, id)}, 100) == draws_of(Random{stream_of(7, "call-17")}, 100));
}

TEST_CASE("another seed, or another call id, is another stream [C8]", "[random]") {
  std::set<std::uint64_t> streams;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (int call = 0; call < 100; ++call) streams.insert(stream_of(seed, "call_" + std::to_string(call)));
  CHECK(streams.size() == 10'000);
  CHECK(stream_of(1, "ab") != stream_of(1, "ba"));
}

TEST_CASE("without a seed two calls draw different sequences (fault 11: Polly #530) [C8]", "[random]") {
  const auto first = draws_of(Random{fresh_stream()}, 10);
  const auto second = draws_of(Random{fresh_stream()}, 10);
  for (std::size_t i = 0; i < 10; ++i) CHECK(first[i] != second[i]);
}

TEST_CASE("threads that start together draw different streams, without a lock [C8]", "[random][threads]") {
  constexpr int threads = 8;
  constexpr int calls = 1'000;
  std::array<std::vector<std::uint64_t>, threads> drawn;
  std::atomic<int> waiting{threads};
  std::vector<std::thread> running;
  for (auto& streams : drawn) {
    running.emplace_back([&] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int call = 0; call < calls; ++call) streams.push_back(fresh_stream());
    });
  }
  for (auto& thread : running) thread.join();
  std::set<std::uint64_t> different;
  for (const auto& streams : drawn) different.insert(streams.begin(), streams.end());
  CHECK(different.size() == threads * calls);
}
