// What the consumer projects build on encore::encore: a call under a policy, with nothing but the standard library.
#include <encore/encore.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

#ifdef FMT_VERSION
#error "encore::encore includes fmt"
#endif

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
  std::printf("%d after %d attempts\n", answer, attempts);
  return answer == 17 && attempts == 3 ? 0 : 1;
}
