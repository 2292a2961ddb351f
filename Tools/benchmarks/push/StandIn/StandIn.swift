import Foundation
import Glibc
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import RecordedRequests

/// A stand-in for APNs, FCM with Google's token service, and a push service of browsers, on one port: HTTP/2 over TLS, on
/// one thread. It accepts every request, as cheaply as possible.
///
/// It is called with the files of its certificate and key and with a port. It prints a line of JSON when it listens. Then
/// it reads instructions from standard input, one line of JSON each, and writes a report for each.
@main
enum StandIn {
  /// How many requests a connection may have in flight. APNs allows 1,000.
  private static let streams = 1_000

  private struct Instruction: Decodable {
    /// Counts from here.
    var begin: Bool?
    /// With `begin`: keeps the requests.
    var keep: Bool?
    /// Writes the requests to a provider that were kept.
    var write: Recording?

    struct Recording: Decodable {
      let provider: Provider
      let path: String
    }
  }

  static func main() {
    do {
      try run(CommandLine.arguments.dropFirst())
    } catch {
      FileHandle.standardError.write(Data("the stand-in failed: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: ArraySlice<String>) throws {
    guard arguments.count == 3, let port = arguments.last.flatMap({ Int($0) }) else {
      throw Failure(text: "usage: push-stand-in CERTIFICATE KEY PORT")
    }
    let tally = Tally()
    try listen(port, try context(arguments.first ?? "", arguments.dropFirst().first ?? ""), tally)
    try report(tally)
    let decoder = JSONDecoder()
    while let line = readLine() {
      let instruction = try decoder.decode(Instruction.self, from: Data(line.utf8))
      if instruction.begin == true { tally.begin(keeps: instruction.keep ?? false) }
      if let recording = instruction.write {
        try RecordedRequest.write(tally.recorded(recording.provider), to: recording.path)
      }
      try report(tally)
    }
  }

  private static func report(_ tally: Tally) throws {
    print(String(decoding: try JSONEncoder().encode(tally.report), as: UTF8.self))
    // Into a pipe, `print` writes only when its buffer is full.
    fflush(nil)
  }

  private static func context(_ certificate: String, _ key: String) throws -> NIOSSLContext {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
    tls.applicationProtocols = ["h2"]
    return try NIOSSLContext(configuration: tls)
  }

  private static func listen(_ port: Int, _ tls: NIOSSLContext, _ tally: Tally) throws {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: streams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKLimit.bytes),
    ]
    let http2 = configuration
    _ = try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            WireCounter(tally), NIOSSLServerHandler(context: tls),
            NIOHTTP2Handler(mode: .server, connectionConfiguration: http2), NotificationHandler(tally),
          ])
        }
      }
      .bind(host: "127.0.0.1", port: port).wait()
  }

  private enum HPACKLimit {
    static let bytes = 16 * 1024
  }

  private struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }
}
