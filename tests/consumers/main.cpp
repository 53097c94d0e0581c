// What every consumer project here builds: a call under a policy, and text by the fmt that encore brings along.
#include <encore/encore.hpp>

#include <fmt/core.h>

#include <chrono>
#include <stdexcept>

using namespace std::chrono_literals;

int main() {
  const encore::RetryPolicy policy{
      encore::RetryOn<std::runtime_error>{},
      encore::MaxRetries{2},
      encore::ConstantBackoff{.delay = 0s},
  };
  int attempts = 0;
  const int answer = policy.run([&] {
    if (++attempts < 3) throw std::runtime_error{"not yet"};
    return 17;
  });
  fmt::print("{} after {} attempts\n", answer, attempts);
  return answer == 17 && attempts == 3 ? 0 : 1;
}
