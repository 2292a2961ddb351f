# Makes a slim package of the log alone, for builds with sanitizers: nothing but EventLog and what it stands on has to be
# compiled anew. Source it after setup.sh.

# Makes DIRECTORY a package whose folders are links into the repository. Kinds:
#   fuzzing    EventLog with coverage counters, and Tests/Fuzzing, as one static library
#   testing    EventLog and its tests
make_log_package() {
  local directory="$1" kind="$2" products="" flags="settings" more="" link name path simulation=""
  mkdir -p "$directory/links"
  for link in Sources/CLZ4 Sources/CISAL Sources/ChatPrimitives Sources/EventLog Tests/Fuzzing Tests/EventLogTests \
    Tests/EventLogSimulation; do
    name="$directory/links/$(basename "$link")"
    rm -f "$name"
    if [ -e "$link" ]; then ln -s "$PWD/$link" "$name"; fi
  done
  # Tests find fixtures and pages by their own path.
  for path in Tests docs; do ln -sfn "$PWD/$path" "$directory/$path"; done
  if [ -d Tests/EventLogSimulation ]; then simulation='"EventLogSimulation", '; fi
  case "$kind" in
    fuzzing)
      products='.library(name: "LogFuzzing", type: .static, targets: ["LogFuzzing"])'
      flags='settings + [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])]'
      more='.target(
        name: "LogFuzzing", dependencies: ["ChatPrimitives", "EventLog", crypto], path: "links/Fuzzing",
        exclude: ["Corpus", "log.dict"], swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])]),'
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
    *) fail "there is no package of the kind $kind" ;;
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
    .systemLibrary(name: "CLZ4", path: "links/CLZ4", pkgConfig: "liblz4"),
    .systemLibrary(name: "CISAL", path: "links/CISAL", pkgConfig: "libisal"),
    .target(name: "ChatPrimitives", path: "links/ChatPrimitives", swiftSettings: settings),
    .target(
      name: "EventLog", dependencies: ["ChatPrimitives", "CLZ4", "CISAL", crypto], path: "links/EventLog",
      swiftSettings: $flags),
    $more
  ],
  swiftLanguageModes: [.v6]
)
MANIFEST
  # An unchanged manifest keeps its time, so that nothing is built anew for it.
  if cmp -s "$directory/Package.swift.new" "$directory/Package.swift"; then
    rm "$directory/Package.swift.new"
  else
    mv "$directory/Package.swift.new" "$directory/Package.swift"
  fi
  # The versions that the repository resolved, where it has.
  if [ -f Package.resolved ] && [ ! -f "$directory/Package.resolved" ]; then cp Package.resolved "$directory/"; fi
}
