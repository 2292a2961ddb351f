import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

@Suite("The pages that the feed makes", .timeLimit(.minutes(1)))
struct LivePagesTests {
  private static let now = Timestamp(milliseconds: 0)

  /// Alice and Bob in a room with one message.
  private struct Scene {
    let fixture: ServiceFixture
    let (alice, bob): (UserID, UserID)
    let room: RoomID = fixed(40)
    var pages: LivePages

    init() async throws {
      fixture = try await ServiceFixture()
      (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
      pages = LivePages(fixture.chat.readModels)
      let creation = RoomCreation(kind: .group, name: "tea", creator: alice)
      _ = try await fixture.chat.performRoom(room, .lifecycle(.create(creation)), by: Principal(user: alice))
      _ = try await fixture.chat.performRoom(room, .members(.add(bob)), by: Principal(user: alice))
    }

    func send(_ number: UInt64, to audience: Set<UserID>) async throws -> LiveMessage {
      let sent = try await fixture.send("hello", number, to: room, by: alice)
      try await fixture.chat.readModels.waitForAll(fixture.chat.store.head, timeoutMilliseconds: 60_000)
      return LiveMessage(position: sent.stamp.position, room: room, author: alice, audience: audience)
    }
  }

  private func texts(_ content: LiveContent?) -> [String]? {
    content?.items.compactMap { item in
      if case .message(let message) = item.content { message.row.text } else { nil }
    }
  }

  @Test("members get the message and the room, and others nothing")
  func contents() async throws {
    var scene = try await Scene()
    let (alice, bob, other) = (scene.alice, scene.bob, fixed(9) as UserID)
    let message = try await scene.send(50, to: [alice, bob, other])
    #expect(scene.pages.add([message]) == [])
    let turn = scene.pages.next(at: Self.now)
    let found = turn.contents
    #expect(turn.readers.isEmpty)
    #expect(texts(found[alice]) == ["hello"] && texts(found[bob]) == ["hello"])
    #expect(found[bob]?.items.contains { $0.content.type == .room } == true)
    #expect(found[bob]?.profiles[alice]?.nickname == "user crm-1")
    #expect(found[other]?.items == [])
    #expect(scene.pages.isEmpty && scene.pages.next(at: Self.now).contents.isEmpty)
    try scene.fixture.close()
  }

  @Test("a large room takes its turn in parts, and users of small rooms come first")
  func turns() async throws {
    var scene = try await Scene()
    let (alice, bob) = (scene.alice, scene.bob)
    let large = Set((100..<UInt64(100 + 2 * Limits.livePageUsers)).map { fixed($0) as UserID })
    let messages = [try await scene.send(50, to: large), try await scene.send(51, to: [alice, bob])]
    #expect(scene.pages.add(messages) == [])
    let first = scene.pages.next(at: Self.now).contents
    #expect(first.count == Limits.livePageUsers && texts(first[alice]) == ["hello"] && texts(first[bob]) == ["hello"])
    // Users whom something else concerns read, and leave the turn.
    let readers = Set(large.subtracting(first.keys).prefix(10))
    scene.pages.remove(readers)
    var served = Set(first.keys)
    while !scene.pages.isEmpty {
      let next = scene.pages.next(at: Self.now).contents
      #expect(served.isDisjoint(with: next.keys) && next.count <= Limits.livePageUsers)
      served.formUnion(next.keys)
    }
    #expect(served == large.union([alice, bob]).subtracting(readers))
    try scene.fixture.close()
  }

  @Test("with too many messages, all users read; a message without users is left out")
  func limits() async throws {
    var scene = try await Scene()
    let (alice, bob) = (scene.alice, scene.bob)
    let message = try await scene.send(50, to: [alice])
    #expect(scene.pages.add([message.except([alice])]) == [])
    #expect(scene.pages.isEmpty)
    #expect(scene.pages.add([message]) == [])
    var other = message
    other.audience = [bob]
    #expect(scene.pages.add(Array(repeating: other, count: Limits.livePageMessages)) == [alice, bob])
    #expect(scene.pages.isEmpty)
    try scene.fixture.close()
  }

  @Test("an item is encoded once")
  func encoding() {
    let encoded = EncodedOnce()
    var count = 0
    for _ in 0..<2 {
      let json = encoded.json {
        count += 1
        return [1, 2]
      }
      #expect(json == [1, 2])
    }
    #expect(count == 1)
  }
}
