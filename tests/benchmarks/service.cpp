#include "service.hpp"

namespace benchmarks {
namespace {
int requests = 0;
int last = 0;
encore::Duration passed{};
}  // namespace

const int max_retries = 3;

int answer(int question) {
  if (question < 0) throw TimeoutError{"no answer"};
  return question + 1;
}
const int& reference(int question) {
  last = answer(question);
  return last;
}
void perform(int question) { last = answer(question); }
std::string text(int question) { return std::string(100, static_cast<char>('a' + question % 26)); }

int answer_after_three_failures() {
  if (++requests % 4 != 0) throw TimeoutError{"no answer"};
  return requests;
}
int always_too_slow() { throw TimeoutError{"no answer"}; }
int value_after_three_failures() { return ++requests % 4 != 0 ? -requests : requests; }

void pass_time(encore::Duration wait) { passed += wait; }

}  // namespace benchmarks
