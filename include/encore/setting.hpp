// Settings that validate themselves: an invalid one is a compile error in a constant expression, else an exception.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A field's name as a template argument, for error messages.
template <std::size_t Size>
struct FieldName {
  char text[Size]{};
  consteval FieldName(const char (&name)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
  }
  constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

/// Reports every invalid setting: throws `std::invalid_argument` with the field, value and reason; without exceptions it writes
/// the same text to stderr and terminates the program. (A1, C3, L3)
[[noreturn]] inline void refuse_setting(std::string_view field, std::string_view value,
                                        std::string_view reason) {
  std::string message{"encore: "};
  for (const std::string_view part : {field, std::string_view{" = "}, value, std::string_view{" "}, reason})
    message += part;
#if defined(__cpp_exceptions)
  throw std::invalid_argument{message};
#else
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
#endif
}

// Deliberately not constexpr: calling one in a constant expression is a compile error that shows its name.
[[noreturn]] inline void the_setting_is_negative(std::string_view field, long long value) {
  refuse_setting(field, std::to_string(value), "is invalid: it must not be negative");
}
[[noreturn]] inline void the_setting_is_too_small(std::string_view field, long long value, long long least) {
  refuse_setting(field, std::to_string(value), "is invalid: it must be at least " + std::to_string(least));
}
[[noreturn]] inline void the_setting_is_too_large(std::string_view field, unsigned long long value,
                                                  int most) {
  refuse_setting(field, std::to_string(value), "is invalid: it must be at most " + std::to_string(most));
}
[[noreturn]] inline void refuse_number(std::string_view field, const char* format, double value,
                                       std::string_view reason) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  refuse_setting(field, text, reason);
}
[[noreturn]] inline void the_setting_is_negative_or_not_finite(std::string_view field, double value) {
  refuse_number(field, "%g", value, "is invalid: it must be finite and not negative");
}
[[noreturn]] inline void the_setting_is_not_between_0_and_1(std::string_view field, double value) {
  refuse_number(field, "%g", value, "is invalid: it must lie between 0 and 1");
}
[[noreturn]] inline void the_duration_is_negative_or_not_finite(std::string_view field, double seconds) {
  refuse_number(field, "%gs", seconds, "is invalid: it must be finite and not negative");
}

/// A whole number from `Least` to the maximum `int`. Converts to `int`, and from integers of any type up to 64 bits: one out of
/// range is invalid, never wrapped. Larger integer types and floating-point numbers do not compile.
template <FieldName Field, int Least = 0>
class Count {
 public:
  constexpr Count(int value) : Count{static_cast<long long>(value)} {}
  template <class T>
    requires(detail::is_whole_count<T> && !std::same_as<T, bool>)
  constexpr Count(T value) : value_{static_cast<int>(value)} {
    constexpr int most = (std::numeric_limits<int>::max)();
    if (value > T{} && static_cast<unsigned long long>(value) > most)
      the_setting_is_too_large(Field.view(), static_cast<unsigned long long>(value), most);
    const auto number = static_cast<long long>(value);
    if (number < Least) {
      if constexpr (Least == 0)
        the_setting_is_negative(Field.view(), number);
      else
        the_setting_is_too_small(Field.view(), number, Least);
    }
  }
  template <class T>
    requires(!detail::is_whole_count<T> && !std::is_class_v<T> && !std::is_enum_v<T>)
  Count(T value) = delete;
  constexpr operator int() const noexcept { return value_; }

 private:
  int value_;
};

/// A finite number, at least 0. Converts from and to `double`.
template <FieldName Field>
class NonNegative {
 public:
  constexpr NonNegative(double value) : value_{value} {
    if (!(value >= 0.0 && value <= (std::numeric_limits<double>::max)()))
      the_setting_is_negative_or_not_finite(Field.view(), value);
  }
  constexpr operator double() const noexcept { return value_; }

 private:
  double value_;
};

/// A share in [0, 1]: 0.25 is a quarter; 25 is invalid. Converts from and to `double`.
template <FieldName Field>
class Share {
 public:
  constexpr Share(double value) : value_{value} {
    if (!(value >= 0.0 && value <= 1.0)) the_setting_is_not_between_0_and_1(Field.view(), value);
  }
  constexpr operator double() const noexcept { return value_; }

 private:
  double value_;
};

namespace detail {
template <class T>
concept HasUnit = !std::is_arithmetic_v<T>;
template <class Rep, class Period>
constexpr Duration finite_span(std::string_view field, std::chrono::duration<Rep, Period> value) {
  check_count<Rep>();
  auto finite = true;
  if constexpr (std::is_floating_point_v<Rep>) finite = value.count() <= (std::numeric_limits<Rep>::max)();
  if (!(value.count() >= Rep{}) || !finite)
    the_duration_is_negative_or_not_finite(field, static_cast<double>(value.count()) *
                                                      static_cast<double>(Period::num) /
                                                      static_cast<double>(Period::den));
  return to_duration(value);
}
}  // namespace detail

/// A finite duration, at least 0, in any unit and representation; one over the range is lowered to `Duration::max()`.
template <FieldName Field>
class Span {
 public:
  template <class Rep, class Period>
  constexpr Span(std::chrono::duration<Rep, Period> value)
      : value_{detail::finite_span(Field.view(), value)} {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr Span(Number) : value_{} {
    static_assert(detail::HasUnit<Number>,
                  "a duration needs its unit: write 250ms, or std::chrono::milliseconds{250}");
  }
  constexpr operator Duration() const noexcept { return value_; }

 private:
  Duration value_;
};

}  // namespace encore ENCORE_BUILD
