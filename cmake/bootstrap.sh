# Shell functions shared by tests/run.sh, examples/run.sh, the benchmarks and CI. To be sourced by bash.
#
#   encore_need compiler cmake ninja fmt catch2     gets what of these is missing, from the system's packages where it may
#   "${encore_cmake_options[@]}"                    what every configuration here has in common, after encore_need
#
# Nothing is asked of the network when nothing is missing. What cannot be had is said; only a missing compiler or CMake
# is an error, since CMake fetches fmt and Catch2 itself and skips, aloud, an example whose library is absent.
# With ENCORE_REQUIRE_EVERYTHING=1 in the environment, as in CI, anything missing is an error.

encore_say() { printf 'encore: %s\n' "$*"; }

# The packages that bring a thing, by their names in Debian and Ubuntu.
encore_packages_of() {
  case $1 in
    compiler) echo g++ ;;
    cmake) echo cmake ;;
    ninja) echo ninja-build ;;
    git) echo git ;;
    pkg-config) echo pkg-config ;;
    fmt) echo libfmt-dev ;;
    catch2) echo catch2 ;;
    spdlog) echo libspdlog-dev ;;
    httplib) echo libcpp-httplib-dev ;;
    asio) echo libasio-dev ;;
    sqlite3) echo libsqlite3-dev ;;
    curl) echo libcurl4-openssl-dev ;;
    nlohmann_json) echo nlohmann-json3-dev ;;
    clang) echo clang-19 libclang-rt-19-dev ;;
    clang16) echo clang-16 ;;
    libcxx) echo libc++-19-dev libc++abi-19-dev ;;
    clang-format) echo clang-format-19 ;;
    clang-tidy) echo clang-tidy-19 ;;
    valgrind) echo valgrind ;;
    node) echo nodejs npm ;;
    python3) echo python3 ;;
    promtool) echo prometheus ;;
    xmllint) echo libxml2-utils ;;
    chromium) echo chromium ;;
    *) encore_say "nobody knows a package for '$1'" >&2; return 1 ;;
  esac
}

encore_cores() { getconf _NPROCESSORS_ONLN; }

encore_has_command() { command -v "$1" > /dev/null 2>&1; }

# A compiler that is there but fails would make every library look missing.
encore_compiler_works() { echo 'int main() {}' | "${CXX:-c++}" -x c++ -fsyntax-only - > /dev/null 2>&1; }

encore_has_header() {
  local -a command=("${CXX:-c++}" -std=c++20 -x c++ -E -)
  local prefixes=${CMAKE_PREFIX_PATH:-} prefix
  for prefix in ${prefixes//:/ }; do command+=("-I$prefix/include"); done
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | "${command[@]}" > /dev/null 2>&1
}

encore_has() {
  case $1 in
    compiler) encore_compiler_works ;;
    cmake) encore_has_command cmake && printf '3.24\n%s\n' "$(cmake --version | sed -n '1s/.* //p')" | sort -C -V ;;
    ninja | git | pkg-config | promtool | xmllint) encore_has_command "$1" ;;
    chromium) encore_has_command chromium || encore_has_command chromium-browser || encore_has_command google-chrome ;;
    valgrind) encore_has_command valgrind && encore_has_header valgrind/callgrind.h ;;
    fmt) encore_has_header fmt/core.h ;;
    catch2) encore_has_header catch2/catch_all.hpp ;;  # version 2 has no such header
    spdlog) encore_has_header spdlog/spdlog.h ;;
    httplib) encore_has_header httplib.h ;;
    asio) encore_has_header asio.hpp ;;
    sqlite3) encore_has_header sqlite3.h ;;
    curl) encore_has_header curl/curl.h ;;
    nlohmann_json) encore_has_header nlohmann/json.hpp ;;
    clang) encore_has_command clang++-19 && encore_clang_has_sanitizers ;;
    clang16) encore_has_command clang++-16 ;;
    libcxx) encore_has_command clang++-19 && encore_clang_finds_libcxx ;;
    clang-format | clang-tidy) encore_has_command "$1-19" ;;
  esac
}

encore_clang_has_sanitizers() { compgen -G "$(clang++-19 -print-resource-dir)/lib/*/libclang_rt.tsan*" > /dev/null; }

encore_clang_finds_libcxx() { printf '#include <version>\nstatic_assert(_LIBCPP_VERSION > 0);\n' |
  clang++-19 -stdlib=libc++ -x c++ -fsyntax-only - > /dev/null 2>&1; }

# Runs a command as root; fails where that is not possible without asking a person who is not there.
encore_as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif [ -t 0 ]; then sudo "$@"
  else sudo -n "$@"
  fi
}

encore_apt_get() {
  encore_as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# encore_apt_candidate <package> [apt options...]: the version that would be installed, or nothing.
encore_apt_candidate() { apt-cache "${@:2}" policy "$1" 2> /dev/null | sed -n '/(none)/d; s/^ *Candidate: //p'; }

# Catch2 3 where the release itself has only version 2 (Debian 12): from the release's backports suite, on the same
# mirror and under the same key as the release. A private set of source lists and indices does it, derived from the
# machine's, which stay exactly as they are.
encore_install_catch2_from_backports() {
  local folder codename suite file status=0
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ -n "$codename" ] || return 1
  suite=$codename-backports
  folder=$(mktemp -d)
  chmod 755 "$folder"  # apt reads and downloads as a user of its own
  mkdir -p "$folder/sources" "$folder/lists"
  cp -r /var/lib/apt/lists/. "$folder/lists/" 2> /dev/null || true
  mkdir -p "$folder/lists/partial"

  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do  # deb [options] URI suite components
    [ -f "$file" ] || continue
    cp "$file" "$folder/sources/$(basename "$file" .list).list"
    awk -v codename="$codename" -v suite="$suite" '
      $1 == "deb" { for (i = 3; i < NF; i++) if ($i == codename && $0 ~ / main( |$)/) { $i = suite; print } }
    ' "$file" >> "$folder/sources/encore-backports.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do  # paragraphs of "Field: values"
    [ -f "$file" ] || continue
    cp "$file" "$folder/sources/"
    grep -v '^#' "$file" | awk -v codename="$codename" -v suite="$suite" '
      BEGIN { RS = ""; FS = "\n" }
      {
        fits = 0; main = 0; text = ""
        for (i = 1; i <= NF; i++) {
          line = $i
          if (line ~ /^Suites:/ && (line " ") ~ ("[ \t]" codename "[ \t]")) { fits = 1; line = "Suites: " suite }
          if (line ~ /^Components:/ && (line " ") ~ /[ \t]main[ \t]/) main = 1
          text = text line "\n"
        }
        if (fits && main) print text
      }' >> "$folder/sources/encore-backports.sources"
  done

  local -a private=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/sources"
    -o Dir::State::lists="$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  encore_apt_get "${private[@]}" update > "$folder/log" 2>&1 || true  # a third party's mirror has no backports: no matter
  if [[ "$(encore_apt_candidate catch2 "${private[@]}" -o APT::Default-Release="$suite")" == 3.* ]]; then
    encore_apt_get "${private[@]}" install -y --no-install-recommends -t "$suite" catch2 >> "$folder/log" 2>&1 || status=1
  else
    status=1
  fi
  if [ "$status" -ne 0 ]; then tail -n 5 "$folder/log"; fi
  encore_as_root rm -rf "$folder"
  return "$status"
}

# Installs what brings the named things, as far as the system's packages go.
encore_install() {
  local thing package log
  local -a packages=()
  log=$(mktemp)
  encore_apt_get update > "$log" 2>&1 || { encore_say "the system's package lists could not be brought up to date"; tail -n 3 "$log"; }
  for thing in "$@"; do
    for package in $(encore_packages_of "$thing"); do
      if [ "$package" = catch2 ] && [[ "$(encore_apt_candidate catch2)" != 3.* ]]; then
        continue
      elif [ -n "$(encore_apt_candidate "$package")" ]; then
        packages+=("$package")
      fi
    done
  done
  if [ "${#packages[@]}" -gt 0 ]; then
    encore_say "installs from the system's packages: ${packages[*]}"
    encore_apt_get install -y --no-install-recommends "${packages[@]}" > "$log" 2>&1 || tail -n 10 "$log"
  fi
  if [[ " $* " == *" catch2 "* ]] && ! encore_has catch2; then
    encore_say "the system's release has no Catch2 3, so installs it from the release's backports"
    encore_install_catch2_from_backports || encore_say "the backports have no Catch2 3 either, or could not be reached"
  fi
  rm -f "$log"
}

encore_need() {
  local thing missing="" lacking=""
  if encore_has_command "${CXX:-c++}" && ! encore_compiler_works; then
    encore_say "the compiler ${CXX:-c++}, $(command -v "${CXX:-c++}"), does not compile an empty program; cannot go on"
    return 1
  fi
  for thing in "$@"; do
    encore_packages_of "$thing" > /dev/null || return 1
    encore_has "$thing" || missing+=" $thing"
  done
  if [ -n "$missing" ]; then
    encore_say "missing here:$missing"
    if ! encore_has_command apt-get; then
      encore_say "there is no apt-get, so installs nothing"
    elif ! encore_as_root true 2> /dev/null; then
      encore_say "neither root nor able to become root, so installs nothing"
    else
      encore_install $missing
    fi
    for thing in $missing; do
      encore_has "$thing" || lacking+=" $thing"
    done
  fi

  encore_cmake_options=(-D CMAKE_COMPILE_WARNING_AS_ERROR=ON
    -D ENCORE_REQUIRE_EVERYTHING="${ENCORE_REQUIRE_EVERYTHING:-0}")
  if encore_has_command ninja; then encore_cmake_options+=(-G Ninja); fi
  if encore_has_command ccache; then encore_cmake_options+=(-D CMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

  for thing in $lacking; do
    case $thing in
      compiler | cmake)
        encore_say "cannot go on without $thing (a C++20 compiler and CMake 3.24 or newer are needed)"
        return 1 ;;
      fmt | catch2) encore_say "could not get $thing from the system's packages; CMake will fetch its source" ;;
      *) encore_say "could not get $thing; goes on without it" ;;
    esac
  done
  if [ -n "$lacking" ] && [ "${ENCORE_REQUIRE_EVERYTHING:-0}" = 1 ]; then
    encore_say "and everything is required here"
    return 1
  fi
}

# The libraries that the sources of an example name, in the words of encore_need.
encore_libraries_named_in() {
  local library
  for library in spdlog httplib asio sqlite3 nlohmann_json curl; do
    if grep -rqiE "(LIBRARIES|find_package|find_library).*$library" "$@"; then echo "$library"; fi
  done
}
