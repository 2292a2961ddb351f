import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import SocketProtocols
import Synchronization
import Testing

@testable import ChatServer

@Suite("The commands of a stream", .timeLimit(.minutes(1)))
struct StreamCommandsSpecs {
  /// Responds to each command when the test says so. Commands whose path begins with `/queued` are in the writer's
  /// queue before that.
  private final class Responder: Sendable {
    private let begun = AsyncStream<String>.makeStream()
    private let waiting = Mutex<[String: CheckedContinuation<Response, Never>]>([:])
    /// The commands that have begun, and that `next` has not returned.
    private let unexamined = Mutex(0)

    var callback: any HTTPResponder<ServerContext> {
      CallbackResponder { request, _ in await self.respond(request.uri.path) }
    }

    private func respond(_ path: String) async -> Response {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0[path] = continuation }
        unexamined.withLock { $0 += 1 }
        begun.continuation.yield(path)
        if path.hasPrefix("/queued") { CommandTurn.current?.pass() }
      }
    }

    /// The paths of the next commands that begin.
    func next(_ count: Int) async -> [String] {
      var paths: [String] = []
      for await path in begun.stream {
        paths.append(path)
        unexamined.withLock { $0 -= 1 }
        if paths.count == count { break }
      }
      return paths
    }

    /// Whether no other command has begun, after other tasks had time to go on.
    func isQuiet() async -> Bool {
      for _ in 0..<1_000 { await Task.yield() }
      return unexamined.withLock { $0 == 0 }
    }

    func finish(_ path: String, _ status: HTTPResponse.Status = .created) {
      waiting.withLock { $0.removeValue(forKey: path) }?.resume(returning: Response(status: status))
    }
  }

  /// Counts how often it was told to pause and to go on. It cannot be told the same twice.
  private final class Source: MessageSource {
    let eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let told = Mutex<[Bool]>([])

    func pauseReading() { tell(true) }
    func resumeReading() { tell(false) }

    private func tell(_ isPaused: Bool) {
      eventLoop.assertInEventLoop()
      told.withLock { told in
        #expect(told.last ?? false != isPaused)
        told.append(isPaused)
      }
    }

    /// How often it was told to pause, and whether it is paused now, after everything that the loop had to do.
    func paused() async throws -> (count: Int, isPaused: Bool) {
      try await eventLoop.submit { self.told.withLock { ($0.count { $0 }, $0.last ?? false) } }.get()
    }
  }

  private let source = Source()
  private let responder = Responder()
  private let responses = AsyncStream<Int>.makeStream()
  private let commands: StreamCommands

  /// The commands use the connection on several threads, which an `EmbeddedChannel` does not allow.
  init() {
    var settings = RateLimitSettings()
    settings.user = RatePolicy(requests: 2, seconds: 1_000)
    commands = StreamCommands(
      responder.callback, RateLimiter(settings), ProblemLog(),
      from: CommandOrigin(
        channel: NIOAsyncTestingChannel(), address: nil, forwardedFor: nil, trace: nil, logger: Logger(label: "test")),
      source)
  }

  private func perform(_ path: String, method: String = "PUT") async throws {
    let message = #"{"type":"command","id":"1","method":"\#(method)","path":"\#(path)"}"#
    guard case .command(_, let frame) = try SocketFrame(.text(Array(message.utf8))) else {
      Issue.record("no command")
      return
    }
    try await source.eventLoop.submit { [commands, responses] in
      commands.perform(frame) { responses.continuation.yield($0.status) }
    }.get()
  }

  private func response() async -> Int? {
    for await status in responses.stream { return status }
    return nil
  }

  @Test("begin in their order, each when the one before is in the writer's queue or has its response")
  func order() async throws {
    let paths = ["/queued/1", "/queued/2", "/3", "/4", "/queued/5"]
    for path in paths { try await perform(path) }
    #expect(await responder.next(3) == ["/queued/1", "/queued/2", "/3"])
    #expect(await responder.isQuiet(), "the command before has no response")
    responder.finish("/3", .notFound)
    #expect(await response() == 404)
    #expect(await responder.next(1) == ["/4"])
    responder.finish("/queued/2")
    #expect(await response() == 201)
    responder.finish("/4", .ok)
    #expect(await response() == 200)
    #expect(await responder.next(1) == ["/queued/5"])
    for path in ["/queued/1", "/queued/5"] { responder.finish(path) }
    #expect(await [response(), response()] == [201, 201])
  }

  @Test("pause reading while 64 have no response")
  func full() async throws {
    let paths = (0..<Limits.commandsInFlight).map { "/queued/\($0)" }
    for path in paths {
      #expect(try await source.paused() == (0, false))
      try await perform(path)
    }
    #expect(try await source.paused() == (1, true))
    _ = await responder.next(paths.count)
    responder.finish(paths[0])
    try await untilResumed()
    try await perform("/queued/next")
    #expect(try await source.paused() == (2, true))
  }

  private func untilResumed() async throws {
    while try await source.paused().isPaused { await Task.yield() }
  }

  @Test("pause reading during a renewal, whatever responses arrive meanwhile")
  func renewal() async throws {
    try await perform("/queued/first")
    _ = await responder.next(1)
    commands.pause()
    #expect(try await source.paused() == (1, true))
    // Messages that arrived before are delivered.
    let paths = (1...Limits.commandsInFlight).map { "/queued/\($0)" }
    for path in paths { try await perform(path) }
    _ = await responder.next(paths.count)
    responder.finish("/queued/first")
    _ = await response()
    #expect(try await source.paused() == (1, true))
    // The renewal is over, but 64 have no response.
    commands.resume()
    #expect(try await source.paused() == (1, true))
    responder.finish(paths[0])
    try await untilResumed()
    #expect(try await source.paused() == (1, false))
  }

  @Test("do not pause reading when the stream has ended")
  func closed() async throws {
    commands.pause()
    for number in 1...Limits.commandsInFlight { try await perform("/queued/\(number)") }
    #expect(try await source.paused() == (1, true))
    commands.close()
    #expect(try await source.paused() == (1, false))
    commands.pause()
    #expect(try await source.paused() == (1, false))
  }

  @Test("are too many if the packets of more than one request arrive together")
  func together() async throws {
    for number in 1...Limits.commandsTogether {
      #expect(!commands.areTooMany)
      try await perform("/queued/\(number)")
    }
    #expect(commands.areTooMany)
  }

  @Test("that are in flight have their responses before a stream ends, and no more begin")
  func drain() async throws {
    for path in ["/queued/1", "/2", "/3"] { try await perform(path) }
    #expect(await responder.next(2) == ["/queued/1", "/2"])
    let isDrained = Mutex(false)
    async let drained: Void = {
      await commands.drain(.seconds(3600))
      isDrained.withLock { $0 = true }
    }()
    responder.finish("/2")
    #expect(await responder.next(1) == ["/3"])
    responder.finish("/3")
    #expect(await responder.isQuiet() && !isDrained.withLock { $0 }, "a command has no response")
    responder.finish("/queued/1")
    await drained
    // A late command has no response.
    try await perform("/late")
    await commands.drain(.seconds(3600))
    responses.continuation.finish()
    var statuses: [Int] = []
    for await status in responses.stream { statuses.append(status) }
    #expect(statuses == [201, 201, 201])
  }

  @Test("do not keep a stream from ending")
  func drainTimeout() async throws {
    try await perform("/1")
    #expect(await responder.next(1) == ["/1"])
    await commands.drain(.zero)
    responder.finish("/1")
    #expect(await response() == 201)
  }

  @Test("are too many when rate limits rejected 100 in a row")
  func tooMany() async throws {
    func perform(_ count: Int, _ status: HTTPResponse.Status) async throws {
      for _ in 0..<count {
        #expect(!commands.areTooMany)
        try await self.perform("/1")
        _ = await responder.next(1)
        responder.finish("/1", status)
        _ = await response()
      }
    }
    try await perform(Limits.refusedCommandsInARow - 1, .tooManyRequests)
    try await perform(1, .notFound)
    try await perform(Limits.refusedCommandsInARow, .tooManyRequests)
    #expect(commands.areTooMany)
  }

  @Test("that no request can be made of count as requests of their user, and are too many when 100 in a row were such")
  func malformed() async throws {
    let user = Principal(user: UserID(UUIDBytes(high: 1, low: 1)))
    commands.caller = Caller(principal: user, expiresAt: nil, credentials: Credentials(authorization: nil))
    let first = (0..<3).map { _ in commands.refuse(Refusal.invalidField("x")) }
    #expect(first.map(\.status) == [400, 400, 429])
    #expect(first.map { $0.headers["Retry-After"] != nil } == [false, false, true])
    for _ in first.count..<Limits.refusedCommandsInARow - 1 { _ = commands.refuse(Refusal.invalidField("x")) }
    #expect(!commands.areTooMany)
    try await perform("/1", method: "GET")
    #expect(await response() == 429)
    #expect(commands.areTooMany)
  }
}
