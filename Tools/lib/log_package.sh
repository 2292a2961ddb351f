# Creates a small package of the log (and for fuzzing, of the socket protocols and the cursors of the sync) for builds with
# sanitizers, so that only these modules and their dependencies have to be recompiled. Source it after setup.sh.

# Turns DIRECTORY into a package whose sources are links into the repository. Kinds:
#   fuzzing    EventLog, SocketProtocols and some files of ChatService and ChatServer with coverage counters, and
#              Tests/Fuzzing, as one
#              static library
#   testing    EventLog and its tests, each with a mutex that ThreadSanitizer understands
make_log_package() {
  local directory="$1" kind="$2" products="" flags="settings" more="" folder simulation=""
  local folders=(Sources/CLZ4 Sources/CISAL Sources/ChatPrimitives Sources/EventLog)
  if [ "$kind" = fuzzing ]; then folders+=(Sources/SocketProtocols Tests/Fuzzing); fi
  if [ "$kind" = testing ]; then folders+=(Tests/EventLogTests); fi
  if [ "$kind" = testing ] && [ -d Tests/EventLogSimulation ]; then
    folders+=(Tests/EventLogSimulation)
    simulation='"EventLogSimulation", '
  fi
  rm -rf "$directory/Sources" "$directory/Tests" "$directory/docs"
  mkdir -p "$directory/Sources" "$directory/Tests"
  # The folders are real and contain links to files, so that another file can be added to them.
  for folder in "${folders[@]}"; do
    cp -rs "$PWD/$folder" "$directory/$folder"
    if [ "$kind" = testing ] && grep -rq --include='*.swift' '^import Synchronization' "$folder"; then
      ln -s "$PWD/Tests/Sanitizing/Mutex.swift" "$directory/$folder/SanitizedMutex.swift"
    fi
  done
  if [ "$kind" = fuzzing ]; then
    # The specs run in the build of Tools/test.
    rm "$directory/Tests/Fuzzing/FuzzSpecs.swift"
    # The cursors of the sync need nothing else of their module.
    mkdir "$directory/Sources/ChatService"
    ln -s "$PWD"/Sources/ChatService/{Base64URL.swift,Sync/SyncCursor.swift,Sync/SyncPosition.swift} \
      "$directory/Sources/ChatService"
    # The forms of uploads need nothing else of theirs.
    mkdir "$directory/Sources/ChatServer"
    ln -s "$PWD"/Sources/ChatServer/HTTP/{MultipartForm.swift,FormPartHead.swift} "$directory/Sources/ChatServer"
  fi
  # The log uses neither of these files, and they need swift-collections.
  rm -f "$directory/Sources/ChatPrimitives/FairQueue.swift" \
    "$directory/Sources/ChatPrimitives/AsyncSemaphore.swift"
  # Tests find fixtures and pages relative to their own path.
  ln -s "$PWD/Tests/Fixtures" "$directory/Tests/Fixtures"
  ln -s "$PWD/docs" "$directory/docs"
  case "$kind" in
    fuzzing)
      products='.library(name: "LogFuzzing", type: .static, targets: ["LogFuzzing"])'
      flags='settings + [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])]'
      more='.target(name: "SocketProtocols", swiftSettings: '"$flags"'),
      .target(name: "ChatService", dependencies: ["ChatPrimitives", "EventLog"], swiftSettings: '"$flags"'),
      .target(name: "ChatServer", swiftSettings: '"$flags"'),
      .target(
        name: "LogFuzzing", dependencies: [
          "ChatPrimitives", "EventLog", "SocketProtocols", "ChatService", "ChatServer", crypto],
        path: "Tests/Fuzzing", exclude: ["Corpus", "words.dict"],
        swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])]),'
      ;;
    testing)
      more='.testTarget(
        name: "EventLogTests", dependencies: ["EventLog", '"$simulation"'"ChatPrimitives"],
        path: "Tests/EventLogTests", swiftSettings: settings),'
      if [ -n "$simulation" ]; then
        more+='.target(
          name: "EventLogSimulation", dependencies: ["ChatPrimitives", "EventLog"], path: "Tests/EventLogSimulation",
          swiftSettings: settings),'
      fi
      ;;
    *) fail "unknown kind of package: $kind" ;;
  esac
  cat >"$directory/Package.swift.new" <<MANIFEST
// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")

let package = Package(
  name: "hansard",
  products: [$products],
  dependencies: [$(grep -m 1 -o '\.package(url: "[^"]*/swift-crypto"[^)]*)' Package.swift)],
  targets: [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal"),
    .target(name: "ChatPrimitives", swiftSettings: settings),
    .target(
      name: "EventLog", dependencies: ["ChatPrimitives", "CLZ4", "CISAL", crypto],
      swiftSettings: $flags),
    $more
  ],
  swiftLanguageModes: [.v6]
)
MANIFEST
  # An unchanged manifest keeps its modification time, so that it causes no rebuild.
  if cmp -s "$directory/Package.swift.new" "$directory/Package.swift"; then
    rm "$directory/Package.swift.new"
  else
    mv "$directory/Package.swift.new" "$directory/Package.swift"
  fi
  # Use the dependency versions that the repository resolved, if there are any.
  if [ -f Package.resolved ] && [ ! -f "$directory/Package.resolved" ]; then cp Package.resolved "$directory/"; fi
}
