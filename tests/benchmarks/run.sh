#!/usr/bin/env bash
# Measures every gate of encore's speed and prints one table: what is allowed, what was measured, and whether it holds.
#   run.sh          all of it; a few minutes on an idle machine
#   run.sh quick    what does not depend on the machine's load: instructions, allocations, clock reads, sizes
#   run.sh simulation   on fake time: the AWS contention curves beside their reference; a part of the first
# A gate that falls short fails the run. The table's raw figures are in build/benchmarks/*.csv.
# Each figure stands beside that of a loop written by hand, in the same file, with the same compiler and options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/bootstrap.sh
part=${1:-all}
case $part in all | quick | simulation) ;; *) echo "usage: run.sh [quick | simulation]" >&2; exit 2 ;; esac

export ENCORE_REQUIRE_EVERYTHING=1
encore_need compiler clang valgrind

sources=tests/benchmarks
out=build/benchmarks
mkdir -p "$out"
rm -f "$out"/*.csv

# The contention curves of the AWS Architecture Blog, 2015, on fake time. One row off by more than it may be fails the run.
simulation() {
  g++ -std=c++20 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -DENCORE_TEST_DATA='"tests/data"' $sources/simulate.cpp -o "$out/simulate" &&
    "$out/simulate" "$out/simulation.csv"
}
if [ "$part" = simulation ]; then
  simulation
  exit
fi

# Each task is one line for bash; as many at once as there are cores. The first that fails ends the run.
side_by_side() { xargs -d '\n' -P "$(encore_cores)" -I{} bash -euo pipefail -c '{}'; }

# builds <program> <levels>: the two lines that build it with both compilers, at each level of optimisation.
builds() {
  local compiler level
  for level in $2; do
    for compiler in g++ clang++-19; do
      echo "$compiler -std=c++20 -O$level -Wall -Wextra -Wpedantic -Werror -Iinclude $sources/{$1,service,counts}.cpp -o $out/$1-$compiler-O$level -ldl"
    done
  done
}

# Instructions are counted by callgrind: as many in each run, whatever else the machine does.
counts() {
  local program
  for program in "$@"; do
    echo "valgrind --tool=callgrind --combine-dumps=yes --callgrind-out-file=$program.callgrind $program > $program.txt 2> $program.log || { cat $program.log; exit 255; }"
  done
}

# The code that one more call site adds: nine of them less one, over eight.
call_sites() {
  local compiler how sites
  for compiler in g++ clang++-19; do
    for how in HAND ENCORE; do
      for sites in 1 9; do
        echo "$compiler -std=c++20 -O2 -Iinclude -DSITES=$sites -D$how -c $sources/call_sites.cpp -o $out/call_sites-$compiler-$how-$sites.o"
      done
    done
  done
}
code_bytes() { size -A "$1" | awk '$1 ~ /^\.text/ { sum += $2 } END { print sum }'; }
symbol_bytes() { echo $((16#$(nm -S "$1" | awk -v name="$2" '$4 == name { print $2 }'))); }

{
  builds success "1 2 3"
  builds failure "1 2 3"
  builds delays 2
  for compiler in g++ clang++-19; do
    echo "$compiler -std=c++20 -O2 -Iinclude $sources/coroutine.cpp -o $out/coroutine-$compiler"
  done
  builds simulated 2
  builds growth 2
  call_sites
} | side_by_side
programs=("$out"/{success,failure}-{g++,clang++-19}-O{1,2,3} "$out"/{delays,simulated,growth}-{g++,clang++-19}-O2)
{
  counts "${programs[@]}"
  for compiler in g++ clang++-19; do
    for mode in hand encore; do
      for calls in 1000 2000; do
        echo "valgrind --tool=callgrind --callgrind-out-file=$out/coroutine-$compiler-$mode-$calls.callgrind $out/coroutine-$compiler $mode $calls > $out/coroutine-$compiler-$mode-$calls.log 2>&1"
      done
    done
  done
} | side_by_side
all_instructions() { sed -n 's/^summary: //p' "$1"; }

{
  echo "gate,path,compiler,level,who,instructions,allocations,rethrows"
  for program in "${programs[@]}"; do
    awk -v program="${program##*/}" -f "$sources/counts.awk" "$program.callgrind" "$program.txt"
  done
  for compiler in g++ clang++-19; do
    for mode in hand encore; do
      of=$out/coroutine-$compiler-$mode
      echo "P13,a coroutine that succeeds at once,$compiler,O2,$mode,$((($(all_instructions "$of-2000.callgrind") - $(all_instructions "$of-1000.callgrind")) / 1000)),,"
    done
  done
} > "$out/counts.csv"
{
  echo "gate,path,compiler,level,who,value"
  for program in "$out"/success-{g++,clang++-19}-O{1,2,3}; do
    build=${program#*-} compiler=${build%-O*} level=${build##*-}
    for who in hand encore; do
      inlined=inlined_by_$who
      [ $who = hand ] || inlined=inlined_with_$who
      echo "P2,bytes of code,$compiler,$level,$who,$(symbol_bytes "$program" "$inlined")"
    done
    sed -n "s/^clock,\(.*\),\(.*\),\(.*\)/P5,\1,$compiler,$level,allowed,\2\nP5,\1,$compiler,$level,encore,\3/p" "$program.txt"
  done
  for compiler in g++ clang++-19; do
    sed -n "s/^state,\(.*\),\(.*\)/P9,bytes of state: \1,$compiler,O2,encore,\2/p" "$out/delays-$compiler-O2.txt"
    sed -n "s/^policy,\(.*\),\(.*\)/P12,bytes of a policy: \1,$compiler,O2,encore,\2/p" "$out/success-$compiler-O2.txt"
    for how in HAND ENCORE; do
      nine=$(code_bytes "$out/call_sites-$compiler-$how-9.o") one=$(code_bytes "$out/call_sites-$compiler-$how-1.o")
      echo "P12,bytes of code for a call site,$compiler,O2,${how,,},$(((nine - one) / 8))"
    done
  done
} > "$out/sizes.csv"

# What including the core costs, against a file that includes what it cannot do without.
include_of() {
  case $1 in
    hand) printf '#include <%s>\n' chrono atomic stop_token condition_variable ;;
    encore) echo '#include <encore/retry_policy.hpp>' ;;
  esac
}
# What a compiler does is counted as well: its seconds vary by half with what else the machine does. Of all its processes.
compiling() {
  valgrind --tool=callgrind --trace-children=yes --callgrind-out-file=/dev/null "$@" 2>&1 | awk '/Collected :/ { sum += $NF } END { printf "%.0f\n", sum }'
}

includes() {
  local compiler who header
  for who in hand encore; do include_of $who > "$out/include_$who.cpp"; done
  for compiler in g++ clang++-19; do
    for who in hand encore; do
      "$compiler" -std=c++20 -Iinclude -E "$out/include_$who.cpp" > "$out/include_$who.ii"
      echo "P11,lines that are not empty,$compiler,O0,$who,$(grep -cvE '^(#.*|[[:space:]]*)$' "$out/include_$who.ii")"
      echo "P11,instructions to compile,$compiler,O0,$who,$(compiling "$compiler" -std=c++20 -Iinclude -fsyntax-only "$out/include_$who.cpp")"
    done
    for header in functional random regex iostream; do
      echo "P11,includes of <$header>,$compiler,O0,encore,$(grep -c "/$header\"" "$out/include_encore.ii" || true)"
    done
  done
}

# Two threads that share guards, against one: of each thread's own time.
contention() {
  local compiler
  for compiler in g++ clang++-19; do
    "$compiler" -std=c++20 -O2 -Iinclude $sources/{contention,service}.cpp -o "$out/contention-$compiler" -pthread
    "$out/contention-$compiler" | sed -n "s/^value,\(.*\),\(.*\),\(.*\),\(.*\)/\1,\2,$compiler,O2,\3,\4/p"
  done
}

if [ "$part" = all ]; then
  { echo "gate,path,compiler,level,who,value"; contention; includes; } > "$out/times.csv"
  g++ -std=c++20 -O2 -Iinclude $sources/trace_reading.cpp -o "$out/trace_reading"
  "$out/trace_reading" | tee "$out/trace_reading.txt"
  echo
fi

status=0
awk -v table="$out/gates.csv" -f "$sources/gates.awk" "$out"/{counts,sizes}.csv $([ "$part" = quick ] || echo "$out/times.csv") || status=$?
if [ "$part" = all ]; then
  echo
  simulation || status=1
fi
exit "$status"
