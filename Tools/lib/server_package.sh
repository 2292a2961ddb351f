# Creates a package of the whole server with a mutex that ThreadSanitizer understands. Source it after setup.sh.

# The dependencies with locks that ThreadSanitizer cannot see. The others use POSIX locks, and so do the parts of
# swift-async-algorithms that the server uses.
readonly LOCKING_DEPENDENCIES=(swift-configuration swift-subprocess)

# Prints the folder of each target below FOLDER whose sources use Synchronization.Mutex.
targets_with_mutex() {
  local target
  for target in "$1"/*/; do
    if grep -Rq --include='*.swift' '^import Synchronization' "$target" && grep -Rqw --include='*.swift' Mutex "$target"
    then
      printf '%s\n' "${target%/}"
    fi
  done
}

# Turns DIRECTORY into a package whose sources are links into the repository, and adds the mutex to these sources and to
# the checked-out dependencies.
make_server_package() {
  local directory="$1" folder file target
  rm -rf "$directory/Sources" "$directory/Tests" "$directory/Tools"
  mkdir -p "$directory/Tools"
  for folder in Sources Tests Tools/commit Tools/hansard Tools/logwork; do
    cp -rs "$PWD/$folder" "$directory/$folder"
  done
  # One of its pages is compiled into the server.
  ln -sfn "$PWD/docs" "$directory/docs"
  # An unchanged file keeps its modification time, so that it causes no rebuild. Package.resolved, if there is one,
  # gives the dependencies the repository's versions.
  for file in Package.swift Package.resolved; do
    if [ -f "$file" ] && ! cmp -s "$file" "$directory/$file"; then cp "$file" "$directory/$file"; fi
  done
  swift package --package-path "$directory" resolve >&2 || fail "the dependencies cannot be resolved"
  for folder in Sources Tools Tests "${LOCKING_DEPENDENCIES[@]/#/.build/checkouts/}"; do
    case "$folder" in .build/*) folder+=/Sources ;; esac
    [ -d "$directory/$folder" ] || fail "$directory/$folder is missing"
    while read -r target; do
      ln -sf "$PWD/Tests/Sanitizing/Mutex.swift" "$target/SanitizedMutex.swift"
    done < <(targets_with_mutex "$directory/$folder")
  done
}
