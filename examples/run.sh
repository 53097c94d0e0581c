#!/usr/bin/env bash
# Gets what is missing, then builds and runs the main job: an agent that calls its inventory tools through encore.
# Arguments go to the program.
set -euo pipefail
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/bootstrap.sh

encore_need compiler cmake ninja pkg-config fmt $(encore_libraries_named_in examples/inventory_agent)

export CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE:-Release}
cmake -S . -B build/examples "${encore_cmake_options[@]}" -D ENCORE_BUILD_TESTS=OFF \
  -D ENCORE_EXAMPLES=inventory_agent
cmake --build build/examples --parallel "$(encore_cores)" --target inventory_agent
program=$PWD/build/examples/examples/inventory_agent/inventory_agent
cd "$here"
"$program" "$@"
