# Shared functions of the scripts in Tools, which find or install what the build and the tests need.
# Source it from bash with `set -euo pipefail`. It changes to the top directory of the repository.

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The Debian packages that the build links against.
readonly BUILD_PACKAGES=(libsqlite3-dev liblz4-dev libisal-dev)
# The Debian packages that create thumbnails at run time.
readonly RUN_PACKAGES=(libvips-tools)
# The oldest toolchain that the manifest accepts.
readonly SWIFT_MINIMUM="6.2"

# How Tools/test builds the executables and the unit tests in one build: optimized, with support for `@testable import`,
# and without debug information, which would take a fifth of the time. Crash traces still name functions. The build has
# its own folder, so that it does not replace the build of Tools/serve.
readonly TEST_SCRATCH=".build/tests"
readonly TEST_BUILD=(--scratch-path "$TEST_SCRATCH" --configuration release -Xswiftc -enable-testing -Xswiftc -gnone -Xcc -g0)

# Prints a heading that separates the phases of a long run.
phase() {
  printf '\n== %s\n' "$*" >&2
}

# Prints an error message and ends the script.
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Installs those of the named Debian packages that are missing, as root or with sudo.
install_packages() {
  local missing=() package
  for package in "$@"; do
    if ! dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
  command -v apt-get >/dev/null ||
    fail "these packages are missing, and there is no apt-get to install them: ${missing[*]}"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "these packages are missing, and installing needs root or sudo: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  phase "installing ${missing[*]}"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >&2 || {
    "${root[@]}" apt-get update >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >&2
  } || fail "apt-get could not install ${missing[*]}"
}

# Does the same for packages that contain a service, and prevents the installation from starting the service.
install_without_services() {
  local policy=/usr/sbin/policy-rc.d package missing=0
  for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing=1
  done
  if [ "$missing" -eq 0 ]; then return 0; fi
  if [ -e "$policy" ]; then
    install_packages "$@"
    return 0
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then root=(sudo); fi
  # With status 101, the script forbids the action; see invoke-rc.d(8).
  printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
  "${root[@]}" chmod 755 "$policy"
  (install_packages "$@") || {
    "${root[@]}" rm -f "$policy"
    exit 1
  }
  "${root[@]}" rm -f "$policy"
}

# Installs what the build, the server and the end-to-end tests need. The tests of the pages in docs/guides need jq,
# openssl and zsh. A browser opens the page of one of them, and nginx runs with the configuration in docs/operating.md.
install_for_tests() {
  install_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}" curl jq openssl strace chromium zsh systemd
  install_without_services nginx-light
}

# Ends the script with advice if the Swift toolchain is missing or too old.
require_swift() {
  local advice="install a toolchain as https://www.swift.org/install/linux/ describes, and put its usr/bin into PATH"
  command -v swift >/dev/null || fail "the Swift toolchain is missing (no 'swift' in PATH): $advice"
  local version
  version="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)"
  [ -n "$version" ] || fail "'swift --version' does not name a version: $advice"
  [ "$(printf '%s\n%s\n' "$SWIFT_MINIMUM" "$version" | sort -V | head -n 1)" = "$SWIFT_MINIMUM" ] ||
    fail "Swift $version is too old, $SWIFT_MINIMUM is needed: $advice"
}

# Creates the Python environment of the end-to-end tests and prints the path of its interpreter.
test_python() {
  local environment=".build/python" wanted="Tests/EndToEnd/requirements.txt"
  if ! cmp -s "$wanted" "$environment/installed.txt" || ! "$environment/bin/python" -c 'import pytest' 2>/dev/null; then
    install_packages python3 python3-venv
    rm -rf "$environment"
    phase "creating the Python environment of the end-to-end tests"
    python3 -m venv "$environment" >&2 || fail "python3 -m venv failed: is python3-venv installed"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$wanted" >&2 ||
      fail "pip could not install what $wanted lists"
    cp "$wanted" "$environment/installed.txt"
  fi
  printf '%s\n' "$PWD/$environment/bin/python"
}

# Prints the path of the executable $1: the value of the variable named $2 or, if it is not set, a new release build.
binary_path() {
  local given="${!2:-}"
  if [ -n "$given" ]; then
    [ -x "$given" ] || fail "$2 is not an executable: $given"
    printf 'using %s, as %s says\n' "$given" "$2" >&2
    printf '%s\n' "$given"
    return 0
  fi
  phase "building $1 (release)"
  swift build -c release --product "$1" >&2 || fail "the release build failed"
  printf '%s\n' "$PWD/.build/release/$1"
}

# The tool that works on the log itself.
logwork_binary() { binary_path logwork LOGWORK_BIN; }

hansard_binary() { binary_path hansard HANSARD_BIN; }
