// Text from a log in an HTML page.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Longer texts are cut: so many characters of a name, or of a message.
inline constexpr std::size_t max_name_size = 80;
inline constexpr std::size_t max_message_size = 300;

/// The text as HTML and XML have it, in an element or in a quoted attribute: nothing in it is markup, and what acts on the text
/// around it (control characters, line ends, what turns its direction) is spelled out. Bytes that are not UTF-8 become U+FFFD.
/// After `most` characters it ends with a sign of omission.
std::string html_text(std::string_view text, std::size_t most = max_message_size);
