import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ChatServer

@Suite("Turns of pipelined requests")
struct RequestTurnsSpecs {
  /// Requests of one event loop.
  private final class Loop {
    let eventLoop = EmbeddedEventLoop()
    let turns: RequestTurns
    /// The requests that have begun and were not answered, and how many have begun in all.
    private(set) var open: [RequestTurns.Turn] = []
    private(set) var begun = 0

    init() { turns = RequestTurns(eventLoop) }

    func ask(_ count: Int = 1) {
      for _ in 0..<count {
        turns.take { turn in
          self.open.append(turn)
          self.begun += 1
          return true
        }
      }
    }

    func answer(_ count: Int) {
      for turn in open.prefix(count) { turns.finish(turn) }
      open.removeFirst(min(count, open.count))
    }
  }

  private let size = RequestTurns.atOnce

  @Test("begin in groups, with a pause after the last response of each")
  func groups() {
    let loop = Loop()
    loop.ask(2 * size + 1)
    #expect(loop.begun == size)
    loop.answer(size - 1)
    loop.eventLoop.advanceTime(by: RequestTurns.pause)
    #expect(loop.begun == size)
    loop.answer(1)
    #expect(loop.begun == size)
    loop.eventLoop.advanceTime(by: RequestTurns.pause)
    #expect(loop.begun == 2 * size)
    loop.answer(size)
    loop.eventLoop.advanceTime(by: RequestTurns.pause)
    #expect(loop.begun == 2 * size + 1)
  }

  @Test("do not wait long for requests that are not answered")
  func unanswered() {
    let loop = Loop()
    loop.ask(size + 1)
    loop.eventLoop.advanceTime(by: RequestTurns.longest)
    #expect(loop.begun == size + 1)
    // They belong to an earlier group, so they do not end this one.
    loop.answer(size)
    loop.ask(size)
    loop.answer(size - 1)
    loop.eventLoop.advanceTime(by: RequestTurns.pause)
    #expect(loop.begun == 2 * size)
  }

  @Test("are not used up by connections that were closed")
  func closed() {
    let loop = Loop()
    loop.ask(size)
    for _ in 0..<10 * size { loop.turns.take { _ in false } }
    loop.ask()
    loop.answer(size)
    loop.eventLoop.advanceTime(by: RequestTurns.pause)
    #expect(loop.begun == size + 1)
    loop.ask(size)
    #expect(loop.begun == 2 * size)
  }

  // MARK: On a connection

  private struct Connection {
    let channel: EmbeddedChannel

    init(_ eventLoop: EmbeddedEventLoop = EmbeddedEventLoop(), _ loops: LoopTurns = LoopTurns()) throws {
      channel = EmbeddedChannel(loop: eventLoop)
      try channel.pipeline.syncOperations.addHandler(
        RequestGuard(ConnectionSettings(), ProblemLog(), loops, Logger(label: "test")))
    }

    /// Requests that arrive in one read.
    func receive(_ count: Int) throws {
      for _ in 0..<count {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        channel.pipeline.fireChannelRead(HTTPRequestPart.head(head))
        channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
      }
      channel.pipeline.fireChannelReadComplete()
    }

    /// - Returns: whether the request may begin at once.
    func mayBegin() throws -> Bool {
      let turn = channel.eventLoop.makePromise(of: Void.self)
      channel.pipeline.triggerUserOutboundEvent(TurnWanted(), promise: turn)
      var isFulfilled = false
      turn.futureResult.whenSuccess { isFulfilled = true }
      return isFulfilled
    }

    func answer() throws {
      try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
      try channel.writeOutbound(HTTPResponsePart.end(nil))
    }
  }

  @Test("are needed only behind another request in the same read")
  func need() throws {
    let connection = try Connection()
    for _ in 0..<3 * size {
      try connection.receive(1)
      #expect(try connection.mayBegin())
    }
    try connection.receive(size + 2)
    for _ in 0..<size { #expect(try connection.mayBegin()) }
    #expect(try !connection.mayBegin())
    // One of them was the first in its read.
    #expect(try connection.mayBegin())
  }

  @Test("end with the response, and with the connection")
  func end() throws {
    let (eventLoop, loops) = (EmbeddedEventLoop(), LoopTurns())
    let connections = try (0..<3).map { _ in try Connection(eventLoop, loops) }
    try connections[0].receive(size)
    for _ in 0..<size - 1 {
      #expect(try connections[0].mayBegin())
      try connections[0].answer()
    }
    try connections[1].receive(2)
    #expect(try connections[1].mayBegin())
    try connections[2].receive(2)
    #expect(try !connections[2].mayBegin())
    connections[1].channel.close(promise: nil)
    eventLoop.run()
    eventLoop.advanceTime(by: RequestTurns.pause)
    try connections[0].receive(2)
    #expect(try connections[0].mayBegin())
  }
}
