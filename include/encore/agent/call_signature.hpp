// A hash of a call: equal for calls with the same name and arguments.
#pragma once
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/call.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/random.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore ENCORE_BUILD {

/// 128 bits made of a call's name and arguments, byte for byte, or of the caller's own signature: equal for equal calls, and
/// different for others except with probability 2⁻¹²⁸, so that no other call is taken for a repetition. The same in every
/// process, so it can be saved; it does not reveal the arguments. A regular value. It does not protect secrets or resist forgery.
/// (H6)
class CallSignature {
 public:
  constexpr explicit CallSignature(const IssuedCall& call) noexcept {
    if (call.signature) {
      add(*call.signature);
    } else {
      add(call.name);
      add(call.arguments);
    }
  }
  constexpr CallSignature(std::uint64_t high, std::uint64_t low) noexcept : high_{high}, low_{low} {}

  /// The signature of this call with this result: a poll that makes progress has a new one each time.
  [[nodiscard]] constexpr CallSignature with_result(std::string_view result) const noexcept {
    auto both = *this;
    both.add(result);
    return both;
  }

  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }

  /// 32 lower-case hexadecimal digits.
  std::string text() const { return Scope{high_, low_}.text(); }
  /// The signature with this text; nothing for any other text.
  static constexpr std::optional<CallSignature> from_text(std::string_view digits) noexcept {
    if (digits.size() != 32) return std::nullopt;
    std::uint64_t words[2]{};
    for (std::size_t i = 0; i < 32; ++i) {
      const auto value = std::string_view{"0123456789abcdef"}.find(digits[i]);
      if (value == std::string_view::npos) return std::nullopt;
      words[i / 16] = words[i / 16] << 4 | value;
    }
    return CallSignature{words[0], words[1]};
  }

  friend constexpr bool operator==(const CallSignature&, const CallSignature&) noexcept = default;

 private:
  // The length first, so that no text runs into the next; then eight bytes at a time, in the same order on every machine.
  constexpr void add(std::string_view text) noexcept {
    add(text.size());
    while (!text.empty()) {
      std::uint64_t word = 0;
      const auto size = text.size() < 8 ? text.size() : 8;
      for (std::size_t i = 0; i < size; ++i)
        word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
      add(word);
      text.remove_prefix(size);
    }
  }
  // Each half is a chain of reversible steps, and the two add a word by different operations: texts that collide in one half are
  // no likelier than others to collide in the other.
  constexpr void add(std::uint64_t word) noexcept {
    high_ = shared::mix(high_ ^ word);
    low_ = shared::mix(low_ + word * 0x9e3779b97f4a7c15U);
  }

  std::uint64_t high_ = 0x243f6a8885a308d3U;  // digits of pi: any two numbers other than zero would do
  std::uint64_t low_ = 0x13198a2e03707344U;
};

namespace detail {

/// Sets the signature of a call that may end with an unknown outcome, if it has none: `text` must outlive it. (I3)
inline void sign(Call& call, const IssuedCall& issued, std::string& text) {
  if (call.replay == ReplaySafety::repeatable || !call.signature.empty()) return;
  text = CallSignature{issued}.text();
  call.signature = text;
}

/// The signature of a saved text. Throws `std::invalid_argument` that names the field and the invalid text.
inline CallSignature signature_of(std::string_view field, std::string_view digits) {
  if (const auto signature = CallSignature::from_text(digits)) return *signature;
  refuse_setting(field, in_quotes(digits), "is invalid: it must be 32 lower-case hexadecimal digits");
}
inline std::vector<CallSignature> signatures_in(const SavedLine& line, std::string_view field) {
  std::vector<CallSignature> all;
  for (const auto& digits : line.texts(field)) all.push_back(signature_of(field, digits));
  return all;
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
