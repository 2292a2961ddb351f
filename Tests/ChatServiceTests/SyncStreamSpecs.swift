import ChatPrimitives
import Testing

@testable import ChatService

@Suite("A stream, as a value")
struct SyncStreamSpecs {
  private func at(_ position: UInt64) -> SyncPosition { SyncPosition(LogPosition(position)) }

  private func page(_ items: Int, next position: UInt64, more: Bool = false) -> SyncPage {
    let item = SyncItem(revision: LogPosition(position), content: .removed(.account))
    return SyncPage(items: Array(repeating: item, count: items), profiles: [:], next: at(position), more: more)
  }

  private func stream(_ inputs: SyncStream.Input...) -> SyncStream {
    var stream = SyncStream()
    for input in inputs { _ = stream.take(input) }
    return stream
  }

  @Test("it reads from the client's position first, sends the page, and waits")
  func firstRead() {
    var stream = SyncStream()
    #expect(stream.take(.authenticated(since: at(3))) == .read(after: at(3), target: nil))
    #expect(stream.take(.read(page(1, next: 7))) == .send(page(1, next: 7)))
    #expect(stream.take(.sent) == .wait)
    #expect(stream.state == .idle(at: at(7)))
  }

  @Test("it reads page after page without being woken")
  func pages() {
    var stream = stream(.authenticated(since: nil), .read(page(2, next: 4, more: true)))
    #expect(stream.take(.sent) == .read(after: at(4), target: nil))
    #expect(stream.take(.read(page(0, next: 6, more: true))) == .read(after: at(6), target: nil))
    #expect(stream.take(.read(page(0, next: 9))) == .wait)
  }

  @Test("a wake reads up to its position, unless the stream has read that far")
  func wakes() {
    var stream = stream(.authenticated(since: at(0)), .read(page(0, next: 7)))
    #expect(stream.take(.woken(through: LogPosition(7))) == .wait)
    #expect(stream.take(.woken(through: LogPosition(9))) == .read(after: at(7), target: LogPosition(9)))
    #expect(stream.take(.read(page(0, next: 9))) == .wait)
    #expect(stream.state == .idle(at: at(9)))
  }

  @Test("a wake while it reads or sends is remembered", arguments: [true, false])
  func remembered(isSending: Bool) {
    var stream = stream(.authenticated(since: at(0)))
    if isSending { #expect(stream.take(.read(page(1, next: 5))) == .send(page(1, next: 5))) }
    #expect(stream.take(.woken(through: LogPosition(8))) == .wait)
    #expect(stream.take(.woken(through: LogPosition(6))) == .wait)
    let action = isSending ? stream.take(.sent) : stream.take(.read(page(0, next: 5)))
    #expect(action == .read(after: at(5), target: LogPosition(8)))
  }

  @Test("a read that failed is tried again from the same position")
  func failure() {
    var stream = stream(.authenticated(since: at(4)))
    #expect(stream.take(.readFailed) == .readLater(after: at(4), target: nil))
    #expect(stream.take(.read(page(1, next: 5))) == .send(page(1, next: 5)))
  }

  @Test("it ends in every state, with the first reason, and then does nothing more")
  func endings() {
    for inputs: [SyncStream.Input] in [
      [], [.authenticated(since: nil)], [.authenticated(since: nil), .read(page(1, next: 5))],
      [.authenticated(since: nil), .read(page(0, next: 5))],
    ] {
      var stream = SyncStream()
      for input in inputs { _ = stream.take(input) }
      #expect(stream.take(.ended(.sessionEnded)) == .end(.sessionEnded))
      for late: SyncStream.Input in [
        .ended(.tooSlow), .authenticated(since: nil), .read(page(1, next: 9)), .readFailed, .sent,
        .woken(through: LogPosition(9)),
      ] {
        #expect(stream.take(late) == .end(.sessionEnded))
      }
    }
  }

  @Test("nothing is read before the client has authenticated, and a late wake is not lost")
  func unauthenticated() {
    var stream = SyncStream()
    #expect(stream.take(.woken(through: LogPosition(9))) == .wait)
    #expect(stream.state == .waiting)
    #expect(stream.take(.read(page(1, next: 5))) == .wait && stream.take(.sent) == .wait)
    #expect(stream.take(.authenticated(since: at(3))) == .read(after: at(3), target: LogPosition(9)))
  }

  @Test("a read never ends before the position where it begins")
  func target() {
    var stream = stream(.authenticated(since: at(1)), .woken(through: LogPosition(4)))
    #expect(stream.take(.read(page(0, next: 6, more: true))) == .read(after: at(6), target: nil))
    #expect(stream.take(.readFailed) == .readLater(after: at(6), target: nil))
    // The initial state is as of the head.
    var new = SyncStream()
    _ = new.take(.woken(through: LogPosition(4)))
    #expect(new.take(.authenticated(since: nil)) == .read(after: nil, target: nil))
  }
}
