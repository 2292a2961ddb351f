import Foundation
import Glibc
import Hummingbird
import Logging
import NIOCore

/// Hummingbird alone: it decodes a message with the framework's own `decode`, and responds with as many bytes as the server.
/// The only argument is the length of the response's body. It prints its port, and runs until it is ended.
@main
enum BareHummingbird {
  private struct Message: Decodable {
    var text: String
  }

  static func main() async throws {
    guard let argument = CommandLine.arguments.dropFirst().first, let length = Int(argument) else {
      fatalError("name the length of the response's body")
    }
    let body = ByteBuffer(repeating: UInt8(ascii: " "), count: length)
    let router = Router()
    router.put("/v1/rooms/:room/messages/:message") { request, context in
      _ = try await request.decode(as: Message.self, context: context)
      return Response(
        status: .created, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
    var logger = Logger(label: "bare-hummingbird")
    logger.logLevel = .error
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        print(channel.localAddress?.port ?? 0)
        // Into a pipe, `print` writes only when its buffer is full.
        fflush(nil)
      }, logger: logger)
    try await application.runService()
  }
}
