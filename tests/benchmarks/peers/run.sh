#!/usr/bin/env bash
# encore beside what its users might pick instead: each against the loop that one would write by hand in its own language.
# Gets tenacity from the system's packages, cockatiel and p-retry from npm, into build/benchmarks/peers; none is installed.
# Prints nanoseconds, medians of interleaved rounds, and their ratio: only the ratios compare.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
source cmake/bootstrap.sh
ENCORE_REQUIRE_EVERYTHING=1 encore_need compiler node python3
here=tests/benchmarks/peers
out=build/benchmarks/peers
mkdir -p "$out"

npm install --silent --no-audit --no-fund --prefix "$out" cockatiel@3.2.1 p-retry@7.1.1
(cd "$out" && apt-get -qq download python3-tenacity 2> /dev/null && dpkg-deb -x python3-tenacity_*.deb tenacity)
g++ -std=c++20 -O2 -Iinclude "$here/cpp.cpp" tests/benchmarks/service.cpp -o "$out/cpp"
cp "$here/node.mjs" "$out/"

{
  echo "library,path,by hand,library"
  "$out/cpp"
  python3 -I -c "import sys; sys.path.insert(0, '$out/tenacity/usr/lib/python3/dist-packages'); exec(open('$here/python.py').read())"
  node "$out/node.mjs"
} > build/benchmarks/peers.csv
awk -F, 'NR == 1 { printf "%-24s %-28s %10s %10s %8s\n", $1, $2, $3, $4, "ratio"; next }
         { printf "%-24s %-28s %10.1f %10.1f %7.2fx\n", $1, $2, $3, $4, $4 / $3 }' build/benchmarks/peers.csv
