#include <encore/detail/random.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::shared::fresh_stream;
using encore::shared::mix;
using encore::shared::Random;
using encore::shared::stream_of;

/// What a state is as a draw: its upper 53 bits, as a fraction.
constexpr double as_draw(std::uint64_t state) { return static_cast<double>(state >> 11) * 0x1p-53; }

// The first two outputs of Sebastiano Vigna's splitmix64.c from the state 1234567, as published with many ports of it. Its
// state goes on by the golden ratio, and the output is the mixed state.
constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;
static_assert(mix(1'234'567 + golden_ratio) == 6'457'827'717'110'365'317U);
static_assert(mix(1'234'567 + 2 * golden_ratio) == 3'203'168'211'198'807'973U);

constexpr std::uint64_t state_after(std::uint64_t state) {
  Random random{state};
  random.draw();
  return random.state();
}
constexpr std::uint64_t increment = state_after(0);
constexpr std::uint64_t multiplier = state_after(1) - increment;
// The multiplier that OpenJDK's L64X128MixRandom has from Steele and Vigna too. By the theorem of Hull and Dobell,
// 1962, the period is all 2^64 states: the increment is odd, and the multiplier is one more than a multiple of 4.
static_assert(multiplier == 0xd1342543de82ef95U);
static_assert(increment % 2 == 1 && multiplier % 4 == 1);
static_assert(sizeof(Random) == 8);

std::vector<double> draws_of(Random random, int count) {
  std::vector<double> draws;
  for (int i = 0; i < count; ++i) draws.push_back(random.draw());
  return draws;
}

/// How far counts that should be equal are from it: chi-square, in standard deviations from its mean. A good generator goes over
/// 5 less than once in 10,000 seeds; what is too even goes under -5.
double unevenness(const std::vector<int>& counts) {
  const auto expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  const auto degrees = static_cast<double>(counts.size() - 1);
  return (chi_square - degrees) / std::sqrt(2 * degrees);
}

/// Draws by their upper bits, one or several together: so many bins for each.
class Bins {
 public:
  explicit Bins(std::size_t each, std::size_t together = 1)
      : each_{each},
        counts_(together == 1   ? each
                : together == 2 ? each * each
                                : each * each * each) {}
  template <class... Draws>
  void add(Draws... draws) {
    std::size_t bin = 0;
    ((bin = bin * each_ + static_cast<std::size_t>(draws * static_cast<double>(each_))), ...);
    ++counts_.at(bin);
  }
  bool are_even() const { return std::abs(unevenness(counts_)) < 5; }

 private:
  std::size_t each_;
  std::vector<int> counts_;
};

double fraction_of(double number) { return number - std::floor(number); }

}  // namespace

TEST_CASE("random draws are the states of the published generator, as fractions [C8]", "[random]") {
  // By Python's whole numbers of any size: x = (0xd1342543de82ef95 * x + 1) % 2**64, from 1234567 on.
  Random random{1'234'567};
  for (const std::uint64_t state :
       {9'830'240'885'484'086'676U, 15'174'483'303'005'604'645U, 8'866'811'230'132'488'074U,
        8'342'322'618'888'812'883U, 17'207'029'940'826'249'808U}) {
    CHECK(random.draw() == as_draw(state));
    CHECK(random.state() == state);
  }
}

TEST_CASE("a random draw is at least 0 and less than 1, at both ends of the generator's states [C2]",
          "[random]") {
  // Before the states 0 and 2**64 - 1: by Python, -pow(m, -1, 2**64) and -2 * pow(m, -1, 2**64), m being the multiplier.
  Random before_zero{0xa8d4a11885ab1c43U};
  CHECK(before_zero.draw() == 0.0);
  CHECK(before_zero.state() == 0);
  Random before_all_ones{0x51a942310b563886U};
  CHECK(before_all_ones.draw() == 1.0 - 0x1p-53);
  CHECK(before_all_ones.state() == ~std::uint64_t{});
  const auto draws = draws_of(Random{42}, 100'000);
  CHECK(*std::min_element(draws.begin(), draws.end()) >= 0.0);
  CHECK(*std::max_element(draws.begin(), draws.end()) < 1.0);
}

TEST_CASE("random draws are uniform, alone, in pairs and in threes, and do not follow one another [C8]",
          "[random]") {
  // Frequency, serial and serial correlation tests: Knuth, The Art of Computer Programming 2, 3.3.2 A, B and K.
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'234'567}, ~std::uint64_t{}}) {
    CAPTURE(seed);
    constexpr int count = 300'000;
    const auto draws = draws_of(Random{seed}, count);
    Bins alone{64}, pairs{32, 2}, threes{10, 3};
    for (const double draw : draws) alone.add(draw);
    for (std::size_t i = 0; i < count; i += 2) pairs.add(draws[i], draws[i + 1]);
    for (std::size_t i = 0; i < count; i += 3) threes.add(draws[i], draws[i + 1], draws[i + 2]);
    CHECK(alone.are_even());
    CHECK(pairs.are_even());
    CHECK(threes.are_even());
    // The mean product of neighbours, from the middle, is 0 with a standard deviation of 1/12 over sqrt(count).
    for (std::size_t lag = 1; lag <= 8; ++lag) {
      CAPTURE(lag);
      double products = 0;
      for (std::size_t i = lag; i < count; ++i) products += (draws[i - lag] - 0.5) * (draws[i] - 0.5);
      CHECK(std::abs(products) < 5 * std::sqrt(count) / 12);
    }
  }
}

TEST_CASE(
    "random streams of neighbouring seeds and ids have nothing in common: calls are numbered in turn [C8]",
    "[random]") {
  // The first draws of each stream, beside those of the stream before: a pair of them, and the distance from one to the other,
  // which streams of a linear generator can keep for ever.
  const auto check = [](const auto& stream_at) {
    constexpr int draws = 4;
    std::vector<Bins> alone(draws, Bins{64}), pairs(draws, Bins{16, 2}), distances(draws, Bins{64});
    Bins distances_twice{16, 2};
    auto before = draws_of(Random{stream_at(0)}, draws);
    for (std::uint64_t stream = 1; stream <= 50'000; ++stream) {
      const auto now = draws_of(Random{stream_at(stream)}, draws);
      for (std::size_t i = 0; i < draws; ++i) {
        alone[i].add(now[i]);
        pairs[i].add(before[i], now[i]);
        distances[i].add(fraction_of(now[i] - before[i]));
      }
      distances_twice.add(fraction_of(now[0] - before[0]), fraction_of(now[1] - before[1]));
      before = now;
    }
    for (std::size_t i = 0; i < draws; ++i) {
      CAPTURE(i);
      CHECK(alone[i].are_even());
      CHECK(pairs[i].are_even());
      CHECK(distances[i].are_even());
    }
    CHECK(distances_twice.are_even());
  };
  check([](std::uint64_t number) { return stream_of(number, "call_0"); });
  check([](std::uint64_t number) { return stream_of(7, "call_" + std::to_string(number)); });
  check([](std::uint64_t number) { return mix(number); });
  check([](std::uint64_t number) { return mix(17 + number * golden_ratio); });  // as fresh streams
}

TEST_CASE("a random stream is a function of seed and call id alone [C8]", "[random]") {
  // 64-bit FNV-1a, by its authors' published test vectors: "" and "foobar".
  STATIC_CHECK(stream_of(7, "") == mix(mix(7) ^ 0xcbf29ce484222325U));
  STATIC_CHECK(stream_of(7, "foobar") == mix(mix(7) ^ 0x85944171f73967e8U));
  // A byte over 127 counts as what it is: (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3.
  STATIC_CHECK(stream_of(7, "\xff") == mix(mix(7) ^ 0xaf64724c8602eb6eU));
  const std::string id{"call-17"};
  CHECK(draws_of(Random{stream_of(7, id)}, 100) == draws_of(Random{stream_of(7, "call-17")}, 100));
}

TEST_CASE("another seed, or another call id, gives another random stream [C8]", "[random]") {
  std::set<std::uint64_t> streams;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (int call = 0; call < 100; ++call) streams.insert(stream_of(seed, "call_" + std::to_string(call)));
  CHECK(streams.size() == 10'000);
  // Streams whose states differ in their upper bits alone would go on side by side. By chance two of these agree in the lower 40
  // once in 20,000 times: 10,000^2 / 2 / 2^40.
  std::set<std::uint64_t> lower_bits;
  for (const auto stream : streams) lower_bits.insert(stream << 24);
  CHECK(lower_bits.size() == 10'000);
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
