#include <encore/engine/owned_call.hpp>
#include <encore/stop_token.hpp>

#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

using encore::Call;
using encore::OwnedCall;

TEST_CASE("an owned call keeps its texts when those of the original call are gone", "[owned_call]") {
  for (const auto size :
       {std::size_t{0}, std::size_t{1}, OwnedCall::room / 4, OwnedCall::room / 4 + 1, std::size_t{1000}}) {
    INFO("texts of " << size << " bytes");
    std::string id(size, 'i'), name(size, 'n'), resolved(size, 'r'), key(size, 'k');
    std::string signature(size, 's');
    OwnedCall owned{Call{
        .id = id, .name = name, .resolved_name = resolved, .operation_key = key, .signature = signature}};
    for (auto* text : {&id, &name, &resolved, &key, &signature}) text->assign(size, 'x');
    const OwnedCall moved{std::move(owned)};
    CHECK(moved.view().id == std::string(size, 'i'));
    CHECK(moved.view().name == std::string(size, 'n'));
    CHECK(moved.view().resolved_name == std::string(size, 'r'));
    CHECK(moved.view().operation_key == std::string(size, 'k'));
    CHECK(moved.view().signature == std::string(size, 's'));
  }
}

TEST_CASE("an owned stop outlives the token it was created from [L4]", "[owned_call]") {
  std::stop_source source;
  const auto owned = [&] {
    const auto token = source.get_token();
    return encore::OwnedStop{encore::StopView{token}};
  }();
  const encore::OwnedStop copy{owned};
  source.request_stop();
  CHECK(owned.view().stop_requested());
  CHECK(copy.view().stop_requested());
  CHECK_FALSE(encore::OwnedStop{encore::StopView{}}.view().watches());
}

TEST_CASE("an owned call keeps its stop token alive [K1]", "[owned_call]") {
  std::stop_source source;
  auto token = std::make_unique<std::stop_token>(source.get_token());
  const OwnedCall owned{Call{.stop = *token}};
  token.reset();
  CHECK(!owned.view().stop.stop_requested());
  source.request_stop();
  CHECK(owned.view().stop.stop_requested());
}

TEST_CASE("an owned call keeps the scope of its original, if it has one [I2]", "[owned_call]") {
  auto scope = std::make_unique<encore::Scope>(1, 2);
  OwnedCall owned{Call{.scope = scope.get()}};
  scope.reset();
  const OwnedCall moved{std::move(owned)};
  REQUIRE(moved.view().scope != nullptr);
  CHECK(*moved.view().scope == encore::Scope{1, 2});
  CHECK(OwnedCall{Call{}}.view().scope == nullptr);
}

TEST_CASE("an owned call keeps everything else of its original", "[owned_call]") {
  const OwnedCall owned{Call{.deadline = encore::TimePoint{encore::Duration{5}},
                             .replay = encore::ReplaySafety::repeatable_with_key,
                             .refused = encore::StopReason::call_limit_reached}};
  CHECK(owned.view().deadline == encore::TimePoint{encore::Duration{5}});
  CHECK(owned.view().replay == encore::ReplaySafety::repeatable_with_key);
  CHECK(owned.view().refused == encore::StopReason::call_limit_reached);
  STATIC_REQUIRE(!std::is_copy_constructible_v<OwnedCall>);
}
