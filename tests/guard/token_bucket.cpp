#include "read_only.hpp"
#include <encore/guard/token_bucket.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <thread>
#include <vector>

using encore::TokenBucket, encore::Tokens;

namespace {

TEST_CASE("a bucket has a bottom and a rim", "[token_bucket]") {
  TokenBucket bucket{10, 3};
  CHECK(bucket.content() == Tokens{3});
  bucket.add(Tokens{6.5});
  CHECK(bucket.content() == Tokens{9.5});
  bucket.add(1);
  CHECK(bucket.content() == Tokens{10});
  bucket.drain(4);
  CHECK(bucket.content() == Tokens{6});
  bucket.drain(7);
  CHECK(bucket.content() == Tokens{0});
  CHECK(TokenBucket{2, 5}.content() == Tokens{2});
}

TEST_CASE("all is taken that is asked for, or nothing", "[token_bucket]") {
  TokenBucket bucket{10, 10};
  CHECK(bucket.take(4, 4));
  CHECK(!bucket.take(7, 7));
  CHECK(bucket.content() == Tokens{6});
  CHECK(bucket.take(6, 6));
  CHECK(bucket.content() == Tokens{0});
  CHECK(!bucket.take(1, 1));
  CHECK(bucket.take(0, 0));
}

TEST_CASE("more can be asked to be there than is taken", "[token_bucket]") {
  TokenBucket bucket{10, 5};
  CHECK(!bucket.take(0, Tokens{5} + Tokens::smallest()));
  CHECK(bucket.take(1, 5));
  CHECK(!bucket.take(1, 5));
  CHECK(bucket.content() == Tokens{4});
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("adding to a full bucket writes nothing, nor does adding or taking nothing [P10]",
          "[token_bucket]") {
  guard_test::ReadOnly<TokenBucket> bucket{Tokens{10}, Tokens{10}};
  bucket.forbid_writing();
  bucket.get().add(5);
  bucket.get().add(0);
  CHECK(bucket.get().take(0, 10));
  CHECK(bucket.get().content() == Tokens{10});
}
#endif

TEST_CASE("threads neither lose nor find a token [H8]", "[token_bucket][threads]") {
  TokenBucket bucket{1'000'000, 1000};
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          if (bucket.take(2, 2)) ++taken;
          bucket.add(Tokens{1.5});
          bucket.drain(Tokens{0.0});
        }
      });
    }
  }
  // 1000 + 4 · 5000 · 1.5 - 2 · taken, and never below zero
  CHECK(bucket.content().number() == 31'000 - 2 * taken.load());
  CHECK(taken.load() > 0);
}

}  // namespace
