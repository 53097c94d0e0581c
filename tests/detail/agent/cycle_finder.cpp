#include <encore/detail/agent/cycle_finder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using encore::detail::CycleFinder;

constexpr auto anything = [](const auto&) { return true; };

/// The same question by the words of the rule, with the whole history at hand: the length of the shortest pattern that the
/// history ends in `repeats` times over and that `next` would begin once more. '*' stands for any next entry.
std::size_t naive(const std::string& history, char next, std::size_t repeats, std::size_t max_cycle_len) {
  for (std::size_t length = 1; length <= max_cycle_len && length * repeats <= history.size(); ++length) {
    const auto pattern = history.substr(history.size() - length);
    std::string loop;
    for (std::size_t i = 0; i < repeats; ++i) loop += pattern;
    if (history.ends_with(loop) && (next == '*' || next == pattern.front())) return length;
  }
  return 0;
}

bool is_primitive(const std::string& pattern) {
  for (std::size_t length = 1; length < pattern.size(); ++length) {
    std::string power;
    while (power.size() < pattern.size()) power += pattern.substr(0, length);
    if (power == pattern) return false;
  }
  return true;
}

std::string end_of(const CycleFinder<char>& finder, std::size_t length) {
  std::string text;
  for (auto n = length; n > 0; --n) text += finder.before_end(n);
  return text;
}

/// An entry that counts comparisons and how many of its kind there are.
struct Counted {
  static inline std::int64_t comparisons = 0;
  static inline std::int64_t alive = 0;
  int value;

  explicit Counted(int v) : value{v} { ++alive; }
  Counted(const Counted& other) : value{other.value} { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  friend bool operator==(const Counted& a, const Counted& b) {
    ++comparisons;
    return a.value == b.value;
  }
};

TEST_CASE("the end of a sequence is a cycle when its pattern repeats often enough [H6]", "[cycle_finder]") {
  CycleFinder<char> finder{3, 8};
  std::string found;
  for (const char entry : std::string{"XABABABAB"}) {
    finder.push(entry);
    found += std::to_string(finder.find(anything));
  }
  // X, XA, …, XABABA: nothing yet; with the third B the pattern AB stands three times, and then BA, and AB four times.
  CHECK(found == "000000222");
  CHECK(finder.times(2) == 4);
  CHECK(end_of(finder, 2) == "AB");
  CHECK(finder.find([](char entry) { return entry == 'A'; }) == 2);
  CHECK(finder.find([](char entry) { return entry == 'B'; }) == 0);
}

TEST_CASE("the cycle finder agrees with the naive search for every sequence of two letters [H6]",
          "[cycle_finder]") {
  for (const int repeats : {2, 3}) {
    for (const int max_cycle_len : {1, 2, 3, 5}) {
      for (unsigned bits = 0; bits < 1U << 13; ++bits) {
        CycleFinder<char> finder{repeats, max_cycle_len};
        std::string history;
        for (unsigned i = 0; i < 13; ++i) {
          const char entry = (bits >> i & 1U) != 0 ? 'B' : 'A';
          finder.push(entry);
          history += entry;
        }
        const auto most = static_cast<std::size_t>(max_cycle_len);
        const auto times = static_cast<std::size_t>(repeats);
        for (const char next : {'*', 'A', 'B'}) {
          const auto found = finder.find([&](char first) { return next == '*' || first == next; });
          if (found != naive(history, next, times, most)) {
            INFO(history << ", then " << next << ", repeats " << repeats << ", max_cycle_len "
                         << max_cycle_len);
            REQUIRE(found == naive(history, next, times, most));
          }
        }
      }
    }
  }
}

TEST_CASE("the cycle finder agrees with the naive search over long random sequences with loops in them [H6]",
          "[cycle_finder]") {
  std::mt19937 random{17};
  int loops = 0;
  for (int round = 0; round < 400; ++round) {
    const int repeats = 2 + static_cast<int>(random() % 3);
    const int max_cycle_len = 1 + static_cast<int>(random() % 9);
    CycleFinder<char> finder{repeats, max_cycle_len};
    std::string history;
    while (history.size() < 150) {
      std::string part;
      for (auto size = 1 + random() % 10; size > 0; --size) part += static_cast<char>('A' + random() % 3);
      for (auto times = random() % 5; times > 0; --times)
        for (const char entry : part) {
          finder.push(entry);
          history += entry;
          const auto expected =
              naive(history, '*', static_cast<std::size_t>(repeats), static_cast<std::size_t>(max_cycle_len));
          const auto found = finder.find(anything);
          if (found != expected) {
            INFO(history << ", repeats " << repeats << ", max_cycle_len " << max_cycle_len);
            REQUIRE(found == expected);
          }
          if (found != 0) {
            ++loops;
            REQUIRE(is_primitive(end_of(finder, found)));
          }
        }
    }
  }
  CHECK(loops > 5'000);
}

TEST_CASE("a cycle finder's work for an entry and its memory do not grow with the sequence [H6]",
          "[cycle_finder]") {
  constexpr int max_cycle_len = 8;
  std::mt19937 random{17};
  Counted::comparisons = 0;
  {
    CycleFinder<Counted> finder{3, max_cycle_len};
    for (int i = 0; i < 100'000; ++i) {
      const auto before = Counted::comparisons;
      finder.push(Counted{static_cast<int>(random() % 2)});
      static_cast<void>(finder.find([](const Counted&) { return ++Counted::comparisons, false; }));
      if (Counted::comparisons - before > 2 * max_cycle_len)
        REQUIRE(Counted::comparisons - before <= 2 * max_cycle_len);
      if (Counted::alive > max_cycle_len) REQUIRE(Counted::alive <= max_cycle_len);
    }
    CHECK(finder.size() == max_cycle_len);
    CHECK(finder.runs().size() == max_cycle_len);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a very large maximum cycle length costs nothing until the sequence is that long",
          "[cycle_finder]") {
  CycleFinder<char> finder{2, 2'147'483'647};
  for (const char entry : std::string{"ABCDEABCDE"}) finder.push(entry);
  CHECK(finder.find(anything) == 5);
  CycleFinder<char> patient{2'147'483'647, 8};
  for (int i = 0; i < 1'000; ++i) patient.push('A');
  CHECK(patient.find(anything) == 0);
  CHECK(patient.times(1) == 1'000);
}

TEST_CASE("a cycle finder takes over what another remembered, a smaller one as much as fits",
          "[cycle_finder]") {
  for (const int smaller : {8, 3, 2, 1}) {
    CAPTURE(smaller);
    CycleFinder<char> finder{2, 8};
    for (const char entry : std::string{"ABCXXXXXYABABAB"}) finder.push(entry);
    std::vector<char> entries;
    for (auto n = finder.size(); n > 0; --n) entries.push_back(finder.before_end(n));
    CycleFinder<char> resumed{2, smaller};
    resumed.restore(entries, finder.runs());
    CHECK(resumed.size() == static_cast<std::size_t>(smaller));
    CHECK(resumed.runs().size() == resumed.size());
    CHECK(resumed.find(anything) == (smaller >= 2 ? 2U : 0U));
    for (const char entry : std::string{"ABABCCCC"}) {
      finder.push(entry);
      resumed.push(entry);
      CHECK(end_of(resumed, 1) == std::string{entry});
      if (const auto length = finder.find(anything); length <= static_cast<std::size_t>(smaller))
        CHECK(resumed.find(anything) == length);
    }
  }
}

TEST_CASE("a cleared cycle finder has seen nothing", "[cycle_finder]") {
  CycleFinder<char> finder{2, 3};
  for (const char entry : std::string{"BAAA"}) finder.push(entry);
  CHECK(finder.find(anything) == 1);
  finder.clear();
  CHECK(finder.size() == 0);
  CHECK(finder.find(anything) == 0);
  finder.push('A');
  CHECK(finder.find(anything) == 0);
  finder.push('A');
  CHECK(finder.find(anything) == 1);
}

TEST_CASE("a cycle finder rejects fewer than two repetitions and a length below one by name [C3, H6]",
          "[cycle_finder]") {
  CHECK_THROWS_AS((CycleFinder<char>{1, 8}), std::invalid_argument);
  CHECK_THROWS_AS((CycleFinder<char>{2, 0}), std::invalid_argument);
}

}  // namespace
