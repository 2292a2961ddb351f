import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RecordedRequests
import Synchronization

/// Sends recorded requests again with AsyncHTTPClient alone: with what the server is compared. It uses the library as the
/// server does: HTTP/2 over TLS, and tasks that run on the event loops.
///
/// It is called with the file of the certificate authority and the number of connections. It reads instructions from
/// standard input, one line of JSON each, and writes a report for each.
@main
enum BareClient {
  private static let timeoutSeconds: Int64 = 10
  private static let bodyBytes = 64 * 1024

  private struct Instruction: Decodable {
    /// The file of the requests.
    let requests: String
    /// Where they are sent, without a path.
    let url: String
    let count: Int
    let inFlight: Int
    /// How many are sent in a second at most; 0 for as many as possible.
    let rate: Int
  }

  /// Shared by all tasks of an instruction.
  private final class Counts: Sendable {
    /// The number of the next request.
    let next = Atomic(0)
    let failed = Atomic(0)
  }

  private struct Report: Encodable {
    let sent: Int
    let failed: Int
  }

  static func main() {
    _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
    do {
      let arguments = CommandLine.arguments
      guard arguments.count == 3, let connections = Int(arguments[2]), connections > 0 else {
        throw Failure(text: "usage: bare-push-client AUTHORITY CONNECTIONS")
      }
      try run(authority: arguments[1], connections)
    } catch {
      FileHandle.standardError.write(Data("the bare client failed: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(authority: String, _ connections: Int) throws {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authority))]
    let configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    // Each has a connection of its own, on an event loop of its own as long as there are enough.
    let loops = Array(NIOSingletons.posixEventLoopGroup.makeIterator())
    let clients = (0..<connections).map { number in
      HTTPClient(eventLoopGroupProvider: .shared(loops[number % loops.count]), configuration: configuration)
    }
    var loaded: [String: [HTTPClientRequest]] = [:]
    while let line = readLine() {
      let instruction = try JSONDecoder().decode(Instruction.self, from: Data(line.utf8))
      if loaded[instruction.requests] == nil { loaded[instruction.requests] = try load(instruction) }
      let requests = loaded[instruction.requests] ?? []
      let report = try NIOSingletons.posixEventLoopGroup.any().makeFutureWithTask {
        await send(requests, instruction, clients)
      }.wait()
      print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
      // Into a pipe, `print` writes only when its buffer is full.
      fflush(nil)
    }
  }

  private static func load(_ instruction: Instruction) throws -> [HTTPClientRequest] {
    try RecordedRequest.read(instruction.requests).map { recorded in
      var request = HTTPClientRequest(url: instruction.url + recorded.path)
      request.method = .POST
      for header in recorded.headers { request.headers.add(name: header.name, value: header.value) }
      request.body = .bytes(ByteBuffer(bytes: recorded.body))
      return request
    }
  }

  private static func send(
    _ requests: [HTTPClientRequest], _ instruction: Instruction, _ clients: [HTTPClient]
  ) async -> Report {
    let counts = Counts()
    let began = ContinuousClock.now
    await withDiscardingTaskGroup { group in
      for _ in 0..<instruction.inFlight {
        group.addTask {
          while true {
            let number = counts.next.add(1, ordering: .relaxed).oldValue
            guard number < instruction.count else { return }
            if instruction.rate > 0 {
              try? await Task.sleep(until: began + .seconds(1) * number / instruction.rate)
            }
            let client = clients[number % clients.count]
            if await !isAccepted(requests[number % requests.count], client) { counts.failed.add(1, ordering: .relaxed) }
          }
        }
      }
    }
    return Report(sent: instruction.count, failed: counts.failed.load(ordering: .relaxed))
  }

  private struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  private static func isAccepted(_ request: HTTPClientRequest, _ client: HTTPClient) async -> Bool {
    do {
      let response = try await client.execute(request, timeout: .seconds(timeoutSeconds))
      _ = try await response.body.collect(upTo: bodyBytes)
      return (200..<300).contains(response.status.code)
    } catch {
      return false
    }
  }
}
