// Macros that well-known headers define (the Windows SDK, X11, Qt, glibc) do not break encore's headers. They come
// after the standard library and fmt, which make no such promise.
// clang-format off
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define major(device) hostile_major(device)
#define minor(device) hostile_minor(device)
#define ERROR 0
#define None 0L
#define Status int
#define Success 0
#define emit
#define signals public
#define slots
#define small char
#define interface struct

#include <encore/version.hpp>
// clang-format on

int main() { return encore::version >= encore::Version{0, 1, 0} ? 0 : 1; }
