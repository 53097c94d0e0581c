// Prints a page for Prometheus: one that counters made, an empty one, or one in which a sample comes twice.
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/counters.hpp>
#include <encore/telemetry/prometheus_text.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

std::string page() {
  encore::Counters counters;
  const encore::RetryPolicy policy{encore::RetryOn<std::runtime_error>{}, counters};
  for (const std::string_view name :
       {"inventory_lookup", "", "a\\b\"c\nd} 17", "\xE6\x9D\xB1\xE4\xBA\xAC", "\xFF\x01", "\xFE\x01"})
    policy.run({.name = name}, [] {});
  return encore::prometheus_text(counters.snapshot());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view which{count > 1 ? arguments[1] : ""};
  auto text = which == "empty" ? encore::prometheus_text({}) : page();
  if (which == "broken") text += text;
  std::fputs(text.c_str(), stdout);
}
