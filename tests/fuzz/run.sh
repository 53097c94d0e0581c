#!/usr/bin/env bash
# Lets libFuzzer look for inputs that break a rule, for so many seconds (60 unless said), in all targets or in those named:
#   tests/fuzz/run.sh [seconds [target ...]]
# It begins with the inputs kept in corpus/<target>/ and with those of earlier runs in build/fuzz/corpus/<target>/. What breaks a
# rule is left in build/fuzz/ as <target>-crash-...: mend the fault, and keep the input, made small, under a name that says what it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/bootstrap.sh

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=($(cd tests/fuzz && basename -s .cpp -- *.cpp))

export CXX=clang++-19
encore_need cmake ninja pkg-config clang fmt catch2
cmake -S . -B build/fuzz "${encore_cmake_options[@]}" -D ENCORE_FUZZ=ON -D ENCORE_BUILD_EXAMPLES=OFF
cmake --build build/fuzz --parallel "$(encore_cores)" --target encore_fuzz

running=()
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  "build/fuzz/tests/fuzz/encore_fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="build/fuzz/$target-" "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" \
    > "build/fuzz/$target.log" 2>&1 &
  running+=("$target:$!")
done
failed=0
for each in "${running[@]}"; do
  target=${each%:*}
  if wait "${each#*:}"; then
    encore_say "$target: $(grep -o '^Done.*' "build/fuzz/$target.log"), no rule broken"
  else
    tail -n 40 "build/fuzz/$target.log"
    encore_say "$target: a rule is broken (build/fuzz/$target.log)"
    failed=1
  fi
done
exit $failed
