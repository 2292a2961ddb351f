// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// What Tools/bench live needs in addition to the server. It is a package of its own so that no other build contains it.
let package = Package(
  name: "benchmark-sockets",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The same requirement as in the package of the server.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2")
  ],
  targets: [
    .executableTarget(
      name: "bare-echo",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      path: "BareEcho", swiftSettings: settings),
    // epoll, which Swift's module of the C library leaves out.
    .systemLibrary(name: "CEpoll", path: "CEpoll"),
    .executableTarget(name: "load", dependencies: ["CEpoll"], path: "Load", swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
