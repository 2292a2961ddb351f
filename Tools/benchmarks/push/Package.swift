// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// What Tools/bench push needs in addition to the server. It is a package of its own so that no other build contains it.
let package = Package(
  name: "benchmark-push",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The same requirements as in the package of the server.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    // The server has it through its other dependencies.
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
  ],
  targets: [
    .target(name: "RecordedRequests", path: "RecordedRequests", swiftSettings: settings),
    .executableTarget(
      name: "push-stand-in",
      dependencies: [
        "RecordedRequests",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      path: "StandIn", swiftSettings: settings),
    .executableTarget(
      name: "bare-push-client",
      dependencies: [
        "RecordedRequests",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      path: "BareClient", swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
