# What encore's own tests and examples are compiled with, and nobody else: link encore_development privately.
set(ENCORE_SANITIZERS "" CACHE STRING "Sanitizers for the tests and examples, as in address,undefined or thread")

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(encore_development INTERFACE)
target_link_libraries(encore_development INTERFACE encore::encore)

# Warnings become errors by CMAKE_COMPILE_WARNING_AS_ERROR, which the scripts set and a plain build does not.
if(MSVC)
  set(encore_warnings /W4 /permissive- /utf-8)
else()
  set(encore_warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow)
endif()
target_compile_options(encore_development INTERFACE ${encore_warnings})

if(ENCORE_SANITIZERS)
  set(encore_sanitizer_flags -fsanitize=${ENCORE_SANITIZERS})
  target_compile_options(encore_development INTERFACE ${encore_sanitizer_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(encore_development INTERFACE ${encore_sanitizer_flags})
endif()

# A thing that cannot be built or run here is never skipped silently, and in CI not at all.
function(encore_skipped_aloud what)
  if(ENCORE_REQUIRE_EVERYTHING)
    message(FATAL_ERROR "encore: ${what}")
  endif()
  message(WARNING "encore: ${what}")
endfunction()
