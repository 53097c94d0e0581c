#include "options.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

using namespace std::chrono_literals;

const std::string_view usage =
    "usage: backoff_explorer [the policy] [an outage] [--html FILE]\n"
    "Prints how long a call waits before each retry; without a policy, for all built-in shapes.\n"
    "  --backoff SHAPE          constant, linear, exponential or fibonacci     exponential\n"
    "  --initial-delay TIME     before the first retry                         1s\n"
    "  --factor NUMBER          of an exponential backoff                      2\n"
    "  --max-delay TIME         no wait is longer                              60s\n"
    "  --min-delay TIME         no wait is shorter                             0s\n"
    "  --jitter KIND            none, full, equal, proportional or decorrelated  proportional\n"
    "  --jitter-ratio SHARE     of proportional jitter, from 0 to 1            0.25\n"
    "  --max-retries NUMBER     after the first attempt, up to 100             2\n"
    "The outage, in the page:\n"
    "  --calls NUMBER           calls that begin in a second                   200\n"
    "  --capacity NUMBER        requests that the backend answers in a second  300\n"
    "  --timeout TIME           after which an attempt is given up             1s\n"
    "  --outage TIME            how long it lasts, up to 60s                   10s\n"
    "  --html FILE              write a page with charts that needs nothing else\n"
    "A TIME is a number and a unit: ns, us, ms, s, min or h, as in 250ms.\n";

namespace {

/// An option with its value: says what is wrong with it.
struct Given {
  std::string_view option;
  std::string_view value;

  [[noreturn]] void refuse(std::string_view reason) const {
    throw UsageError{fmt::format("{} {}: {}", option, value, reason)};
  }

  /// The number at the beginning, and what follows it.
  std::pair<double, std::string_view> leading_number() const {
    const std::string text{value};
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - text.c_str());
    if (length == 0 || !std::isfinite(number)) refuse("this is no number");
    return {number, value.substr(length)};
  }
  double number() const {
    const auto [number, rest] = leading_number();
    if (!rest.empty()) refuse("this is no number");
    return number;
  }
  double number_between(double least, double most) const {
    const double value_given = number();
    if (value_given < least || value_given > most)
      refuse(fmt::format("it must lie between {} and {}", least, most));
    return value_given;
  }
  int whole_number_up_to(int most) const {
    const double number = number_between(0, most);
    if (number != std::floor(number)) refuse("it must be a whole number");
    return static_cast<int>(number);
  }
  std::chrono::duration<double> time() const {
    const auto [number, unit] = leading_number();
    if (value == "0") return 0s;
    constexpr std::array<std::pair<std::string_view, double>, 6> units{
        {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
    for (const auto& [name, seconds] : units)
      if (unit == name) return std::chrono::duration<double>{number * seconds};
    refuse("a time is a number and a unit: ns, us, ms, s, min or h, as in 250ms");
  }
  encore::Duration time_between(encore::Duration least, encore::Duration most) const {
    const auto given = encore::to_duration(time());
    if (given < least || given > most)
      refuse(fmt::format("it must lie between {} and {}", text_of(least), text_of(most)));
    return given;
  }
  template <class Enum, std::size_t Size>
  Enum one_of(const std::array<std::pair<std::string_view, Enum>, Size>& choices) const {
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (value == name) return choice;
      names += names.empty() ? "" : ", ";
      names += name;
    }
    refuse("it must be one of " + names);
  }
};

constexpr std::array<std::pair<std::string_view, encore::BackoffShape>, 4> backoffs{
    {{"constant", encore::BackoffShape::constant},
     {"linear", encore::BackoffShape::linear},
     {"exponential", encore::BackoffShape::exponential},
     {"fibonacci", encore::BackoffShape::fibonacci}}};
constexpr std::array<std::pair<std::string_view, encore::JitterShape>, 5> jitters{
    {{"none", encore::JitterShape::none},
     {"full", encore::JitterShape::full},
     {"equal", encore::JitterShape::equal},
     {"proportional", encore::JitterShape::proportional},
     {"decorrelated", encore::JitterShape::decorrelated}}};

template <class Names, class Enum>
std::string_view name_of(const Names& names, Enum value) {
  for (const auto& [name, choice] : names)
    if (choice == value) return name;
  return "";
}

/// Is it a part of the policy? Then it is set; what the library refuses, it refuses by the field's name.
bool set_policy(encore::RetrySettings& policy, const Given& given) {
  const auto option = given.option;
  try {
    if (option == "--backoff")
      policy.backoff = given.one_of(backoffs);
    else if (option == "--initial-delay")
      policy.delays.initial_delay = given.time();
    else if (option == "--factor")
      policy.delays.factor = given.number();
    else if (option == "--max-delay")
      policy.delays.max_delay = given.time();
    else if (option == "--min-delay")
      policy.delays.min_delay = given.time();
    else if (option == "--jitter")
      policy.jitter = given.one_of(jitters);
    else if (option == "--jitter-ratio")
      policy.jitter_ratio = given.number();
    else if (option == "--max-retries")
      policy.max_retries = given.whole_number_up_to(100);
    else
      return false;
  } catch (const std::invalid_argument& refused) {
    given.refuse(refused.what());
  }
  return true;
}

void set_outage(OutageOptions& outage, const Given& given) {
  if (given.option == "--calls")
    outage.calls_per_second = given.number_between(1, 5000);
  else if (given.option == "--capacity")
    outage.requests_per_second = given.number_between(1, 5000);
  else if (given.option == "--timeout")
    outage.timeout = given.time_between(1ms, 60s);
  else if (given.option == "--outage")
    outage.lasts = given.time_between(1s, 60s);
}

}  // namespace

Options read_options(std::span<char* const> words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view option{words[i]};
    if (option == "--help") {
      options.help = true;
      continue;
    }
    // What the usage does not tell of is no option.
    if (!option.starts_with("--") || usage.find(fmt::format("\n  {} ", option)) == usage.npos)
      throw UsageError{fmt::format("there is no option {}", option)};
    if (++i == words.size()) throw UsageError{fmt::format("{} needs a value", option)};
    const Given given{option, words[i]};
    if (option == "--html")
      options.html = words[i];
    else if (set_policy(options.policy, given))
      options.all_shapes = false;
    else
      set_outage(options.outage, given);
  }
  try {
    static_cast<void>(options.policy.part<encore::role::Backoff>());
  } catch (const std::invalid_argument& refused) {
    throw UsageError{refused.what()};
  }
  return options;
}

std::string text_of(encore::Duration duration) {
  const double seconds = std::chrono::duration<double>{duration}.count();
  if (duration >= 1h) return fmt::format("{:.4g} h", seconds / 3600);
  if (duration >= 2min) return fmt::format("{:.4g} min", seconds / 60);
  return fmt::format("{:.4g} s", seconds);
}

std::string policy_text(const encore::RetrySettings& policy) {
  const auto& delays = policy.delays;
  const auto constant = policy.backoff == encore::BackoffShape::constant;
  std::string text = fmt::format("{} backoff {} {}", name_of(backoffs, policy.backoff),
                                 constant ? "of" : "from", text_of(delays.initial_delay));
  if (policy.backoff == encore::BackoffShape::exponential)
    text += fmt::format(", factor {:.4g}", double{delays.factor});
  text += fmt::format(", at most {}", text_of(delays.max_delay));
  if (encore::Duration{delays.min_delay} > 0s)
    text += fmt::format(", at least {}", text_of(delays.min_delay));
  text += policy.jitter == encore::JitterShape::none
              ? ", no jitter"
              : fmt::format(", {} jitter", name_of(jitters, policy.jitter));
  if (policy.jitter == encore::JitterShape::proportional)
    text += fmt::format(" of {:.4g} %", 100 * double{policy.jitter_ratio});
  const int retries = *policy.max_retries;
  return text + fmt::format(", {} {}", retries, retries == 1 ? "retry" : "retries");
}
