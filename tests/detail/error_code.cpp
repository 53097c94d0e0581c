#include "../asio_like_category.hpp"
#include <encore/detail/error_code.hpp>
#include <encore/detail/error_code_in.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

namespace detail = encore::detail;
using encore_tests::asio_like, encore_tests::Untranslated;

namespace {

/// One that translates: its error 7 is a cancellation.
class Translated : public std::error_category {
 public:
  const char* name() const noexcept override { return "translated.system"; }
  std::string message(int) const override { return "no message"; }
  std::error_condition default_error_condition(int value) const noexcept override {
    return value == 7 ? std::errc::operation_canceled : std::errc::io_error;
  }
};

enum class Answer { fine, cancelled };
std::error_code make_error_code(Answer answer) {
  return answer == Answer::fine ? std::error_code{} : std::make_error_code(std::errc::operation_canceled);
}

template <class T, class E>
struct Expected {
  std::optional<T> value;
  E its_error;
  bool has_value() const { return value.has_value(); }
  const E& error() const { return its_error; }
};

template <class Value>
concept HasCode = requires(const Value& value) { detail::error_code_in(value); };

}  // namespace

template <>
struct std::is_error_code_enum<Answer> : std::true_type {};

TEST_CASE("a cancellation is recognized in every category that uses the system's numbers [B4]",
          "[error_code]") {
  const Translated translated;
  CHECK(std::error_code{ECANCELED, asio_like} !=
        std::errc::operation_canceled);  // which is what is wrong with it
  CHECK(detail::says_cancelled({ECANCELED, asio_like}));
  CHECK(detail::says_cancelled({ECANCELED, std::system_category()}));
  CHECK(detail::says_cancelled({ECANCELED, std::generic_category()}));
  CHECK(detail::says_cancelled({7, translated}));
}

TEST_CASE("other errors are not taken for a cancellation, whatever their number [B4]", "[error_code]") {
  CHECK(!detail::says_cancelled({ETIMEDOUT, asio_like}));
  CHECK(!detail::says_cancelled({ETIMEDOUT, std::system_category()}));
  CHECK(!detail::says_cancelled({}));
  CHECK(!detail::says_cancelled({ECANCELED, Translated{}}));
  for (const auto* name : {"asio.misc", "ecosystem", "a system of mine", ""}) {
    INFO(name);
    CHECK(!detail::says_cancelled({ECANCELED, Untranslated{name}}));
  }
}

TEST_CASE("an error code is translated only where its category hides it from the standard library",
          "[error_code]") {
  const Untranslated other{"asio.misc"};
  const Translated translated;
  CHECK(detail::recognised({ETIMEDOUT, asio_like}) == std::error_code{ETIMEDOUT, std::system_category()});
  CHECK(detail::recognised({ETIMEDOUT, other}) == std::error_code{ETIMEDOUT, other});
  CHECK(detail::recognised({3, translated}) == std::error_code{3, translated});
  CHECK(detail::recognised({12345, std::system_category()}) ==
        std::error_code{12345, std::system_category()});
}

TEST_CASE("the error code of a returned value is the value itself, or its error [B6]", "[error_code]") {
  const auto cancelled = std::make_error_code(std::errc::operation_canceled);
  CHECK(detail::error_code_in(cancelled) == cancelled);
  CHECK(detail::error_code_in(std::errc::operation_canceled) == cancelled);
  CHECK(detail::error_code_in(Answer::cancelled) == cancelled);
  CHECK(!detail::error_code_in(Answer::fine));
  CHECK(detail::error_code_in(Expected<int, std::error_code>{{}, cancelled}) == cancelled);
  CHECK(!detail::error_code_in(Expected<int, std::error_code>{17, cancelled}));
  CHECK(detail::error_code_in(Expected<int, Answer>{{}, Answer::cancelled}) == cancelled);
  STATIC_REQUIRE(!HasCode<int>);
  STATIC_REQUIRE(!HasCode<std::string>);
  STATIC_REQUIRE(!HasCode<std::optional<int>>);
  STATIC_REQUIRE(!HasCode<Expected<int, std::string>>);
}
