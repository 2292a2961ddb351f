import AsyncHTTPClient
import Foundation
import Glibc
import HTTPClientLimits
import NIOCore
import NIOHTTP1
import NIOPosix

/// Fetches JWK sets from URLs and files, with limits on size and time, and without following redirects.
package struct KeySetFetcher: Sendable {
  /// How long a fetch may take, from its start to the last byte.
  package static let defaultLimit = Duration.seconds(5)
  /// The largest set, in bytes.
  package static let setBytes = 256 * 1024
  /// The maximum number of frames of a response over HTTP/2: enough for the largest set in frames of 256 bytes.
  static let responseFrames = setBytes / 256

  struct FetchedKeySet: Sendable {
    let body: Data
    /// The issuer's `max-age` in seconds; nil if it has none.
    let maximumAge: Int64?
  }

  private let client: HTTPClient
  private let limit: Duration

  package init(limit: Duration = defaultLimit) {
    self.limit = limit
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.limitResponses(frames: Self.responseFrames)
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  package func close() async {
    try? await client.shutdown()
  }

  /// - Throws: `KeySetError.tooSlow` when the time limit is reached, even if the issuer is still sending.
  func fetch(_ location: KeyLocation) async throws -> FetchedKeySet {
    try await withThrowingTaskGroup(of: FetchedKeySet.self) { group in
      group.addTask { try await load(from: location) }
      group.addTask {
        try await Task.sleep(for: limit)
        throw KeySetError.tooSlow
      }
      defer { group.cancelAll() }
      guard let fetched = try await group.next() else { throw KeySetError.tooSlow }
      return fetched
    }
  }

  private func load(from location: KeyLocation) async throws -> FetchedKeySet {
    switch location {
    case .file(let path): try await read(path)
    case .url(let url): try await get(url)
    }
  }

  private func get(_ url: String) async throws -> FetchedKeySet {
    var request = HTTPClientRequest(url: url)
    request.headers.add(name: "Accept", value: "application/json")
    // The request that needed the keys first waits for this one.
    if let trace = TraceContext.current { request.headers.add(name: "traceparent", value: trace.traceparent) }
    let response = try await client.execute(request, deadline: .distantFuture)
    guard response.status == .ok else { throw KeySetError.status(response.status.code) }
    let body = try await response.body.collect(upTo: Self.setBytes)
    return FetchedKeySet(
      body: Data(body.readableBytesView),
      maximumAge: Self.maximumAge(in: response.headers[canonicalForm: "cache-control"]))
  }

  private func read(_ path: String) async throws -> FetchedKeySet {
    let body = try await NIOThreadPool.singleton.runIfActive {
      let handle = try Self.open(path)
      defer { try? handle.close() }
      return try handle.read(upToCount: Self.setBytes + 1) ?? Data()
    }
    guard body.count <= Self.setBytes else { throw KeySetError.tooLarge }
    return FetchedKeySet(body: body, maximumAge: nil)
  }

  /// Opens regular files only: opening a FIFO would block the thread until somebody writes to it.
  private static func open(_ path: String) throws -> FileHandle {
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
      throw KeySetError.notRegularFile
    }
    // This does not block either if a FIFO replaces the file meanwhile.
    let descriptor = Glibc.open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw KeySetError.unreadable(String(cString: strerror(errno))) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// The seconds that `Cache-Control` allows (RFC 9111, section 5.2.2); 0 if it forbids caching, and nil if it does not
  /// say.
  static func maximumAge(in directives: [Substring]) -> Int64? {
    var age: Int64?
    for directive in directives.map({ $0.lowercased() }) {
      if directive == "no-store" || directive == "no-cache" { return 0 }
      let parts = directive.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == "max-age" {
        age = Int64(parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \"")))
      }
    }
    return age
  }
}

/// Why a JWK set could not be fetched.
enum KeySetError: Error, Hashable {
  case status(UInt)
  /// The file cannot be opened; the text is the system's reason.
  case unreadable(String)
  case notRegularFile
  case tooLarge
  case tooSlow
}
