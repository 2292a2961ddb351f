// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
// Tests are built without optimization, which halves the time of their build. What they test is optimized.
let testSettings = settings + [.unsafeFlags(["-Onone"])]

// The targets are in the order in which data flows. Each imports only targets above it.
let package = Package(
  name: "hansard",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "hansard", targets: ["hansard"])
  ],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ],
  targets: [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CSQLite"),
    // Embeds docs/openapi.yaml, which the server serves.
    .target(name: "COpenAPI"),
    // Looks up the commit that is checked out, for the executable.
    .plugin(name: "CommitPlugin", capability: .buildTool(), path: "Tools/commit"),

    .target(
      name: "ChatPrimitives", dependencies: [.product(name: "DequeModule", package: "swift-collections")],
      swiftSettings: settings),
    .target(
      name: "ServerMetrics", dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: settings),
    .target(
      name: "ChatDomain",
      dependencies: [
        "ChatPrimitives", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: settings),
    .target(
      name: "EventLog",
      dependencies: ["ChatPrimitives", "CLZ4", "CISAL", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: settings),
    .target(
      name: "EventStore",
      dependencies: [
        "ChatPrimitives", "ServerMetrics", "ChatDomain", "EventLog",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      exclude: ["Schema"], swiftSettings: settings),
    .target(
      name: "ChatProjections",
      dependencies: [
        "CSQLite", "ChatPrimitives", "ChatDomain", "EventLog", "EventStore",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(
      name: "MediaFiles",
      dependencies: [
        "ChatPrimitives",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .target(
      name: "ChatService",
      dependencies: [
        "ChatPrimitives", "ChatDomain", "EventStore", "ChatProjections", "MediaFiles",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(name: "ChatProtocol", dependencies: ["ChatPrimitives"], swiftSettings: settings),
    .target(name: "SocketProtocols", swiftSettings: settings),
    .target(
      name: "HTTPClientLimits",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      swiftSettings: settings),
    .target(
      name: "ChatPush",
      dependencies: [
        "ChatPrimitives", "ServerMetrics", "HTTPClientLimits", "ChatDomain", "EventStore", "ChatProjections", "ChatService",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .target(
      name: "ChatServer",
      dependencies: [
        "CISAL", "COpenAPI", "ChatPrimitives", "ServerMetrics", "HTTPClientLimits", "ChatDomain", "ChatProjections", "MediaFiles",
        "ChatService",
        "ChatProtocol", "SocketProtocols",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HummingbirdHTTP2", package: "hummingbird"),
        .product(name: "HummingbirdTLS", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "hansard",
      dependencies: [
        "CMalloc", "ChatPrimitives", "ServerMetrics", "ChatDomain", "EventLog", "EventStore", "ChatProjections",
        "MediaFiles", "ChatService", "ChatProtocol", "ChatPush", "ChatServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Tools/hansard", swiftSettings: settings, plugins: ["CommitPlugin"]),

    // Measures the processor time of work in tests.
    .target(name: "ProcessorTime", path: "Tests/ProcessorTime", swiftSettings: settings),
    // The simulation that tests the log, with the random numbers of all tests, and the tool that runs it for longer and measures the log.
    .target(
      name: "EventLogSimulation", dependencies: ["ChatPrimitives", "EventLog"], path: "Tests/EventLogSimulation",
      swiftSettings: settings),
    .executableTarget(
      name: "logwork",
      dependencies: [
        "ChatPrimitives", "ChatDomain", "EventLog", "EventStore", "EventLogSimulation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logwork", swiftSettings: settings),

    .testTarget(
      name: "ServerMetricsTests",
      dependencies: ["ServerMetrics", .product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: testSettings),
    .testTarget(name: "ChatPrimitivesTests", dependencies: ["ChatPrimitives"], swiftSettings: testSettings),
    .testTarget(
      name: "ChatProtocolTests", dependencies: ["ChatProtocol", "ChatPrimitives", "EventLogSimulation"],
      swiftSettings: testSettings),
    .testTarget(
      name: "SocketProtocolsTests", dependencies: ["SocketProtocols", "EventLogSimulation"], swiftSettings: testSettings),
    .testTarget(name: "ChatDomainTests", dependencies: ["ChatDomain", "ChatPrimitives"], swiftSettings: testSettings),
    .testTarget(
      name: "EventLogTests", dependencies: ["EventLog", "EventLogSimulation", "ChatPrimitives"],
      swiftSettings: testSettings),
    // Tools/fuzz compiles the same files with libFuzzer.
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "ChatServer", "ChatService", "EventLog", "EventLogSimulation", "SocketProtocols", "ChatPrimitives",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      path: "Tests/Fuzzing", exclude: ["Corpus", "words.dict"], swiftSettings: testSettings),
    .testTarget(
      name: "EventStoreTests", dependencies: ["EventStore", "EventLog", "ChatDomain", "ChatPrimitives"],
      swiftSettings: testSettings),
    .testTarget(
      name: "ChatProjectionsTests",
      dependencies: [
        "ChatProjections", "EventStore", "EventLogSimulation", "ChatDomain", "ChatPrimitives", "ProcessorTime",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "MediaFilesTests",
      dependencies: [
        "MediaFiles", "ChatPrimitives",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "ChatServiceTests",
      dependencies: [
        "ChatService", "ChatProjections", "EventStore", "EventLog", "EventLogSimulation", "ChatDomain",
        "ChatPrimitives", "MediaFiles", "ProcessorTime",
        .product(name: "GRDBSQLite", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: testSettings),
    // Optimized, because the model takes most of the test time.
    .testTarget(
      name: "ChatModelTests",
      dependencies: [
        "ChatService", "ChatProjections", "EventStore", "EventLog", "EventLogSimulation", "ChatDomain",
        "ChatPrimitives", "ChatPush", "MediaFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPClientLimitsTests",
      dependencies: [
        "HTTPClientLimits",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "ChatPushTests",
      dependencies: [
        "ChatPush", "ChatService", "ChatProjections", "EventStore", "EventLogSimulation", "ChatDomain",
        "ChatPrimitives",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "ChatServerTests",
      dependencies: [
        "ChatServer", "ChatProtocol", "ChatService", "ChatProjections", "EventStore", "EventLog", "ChatDomain",
        "ChatPrimitives", "SocketProtocols", "ProcessorTime",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "HansardToolTests",
      dependencies: [
        "hansard", "ChatPush", "EventStore", "EventLog", "ChatDomain", "ChatPrimitives",
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6],
  // Required for #embed.
  cLanguageStandard: .c2x
)
