#!/usr/bin/env bash
# Gets what is missing, builds the tests in build/tests, and runs them all. Arguments go to ctest, as in: -R retry_after
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/bootstrap.sh

encore_need compiler cmake ninja pkg-config fmt catch2

# Without optimisation or debug information the tests build fastest; CMAKE_BUILD_TYPE in the environment says otherwise.
cmake -S . -B build/tests "${encore_cmake_options[@]}" -D CMAKE_BUILD_TYPE="${CMAKE_BUILD_TYPE:-}" -D ENCORE_BUILD_EXAMPLES=OFF
cmake --build build/tests --parallel "$(encore_cores)"
ctest --test-dir build/tests --parallel "$(encore_cores)" --output-on-failure --no-tests=error "$@"
