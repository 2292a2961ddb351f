import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import Testing

/// The model test has only a few rooms, and all of them have messages in the initial state.
@Suite("The initial state, the newest messages of each room, and filters")
struct SyncInitialTests {
  private static let rooms = Limits.syncInitialRooms + 6

  // MARK: - The initial state

  @Test("the initial state has the rooms in list order, the first 20 with their 30 newest messages")
  func order() async throws {
    let scene = try await SyncScene(rooms: Self.rooms)
    let first = scene.rooms[Self.rooms - 1]
    try await scene.send(Limits.syncInitialMessages + 5, to: first)
    let page = try await scene.page(after: nil, limit: Limits.syncItems)
    let head = scene.head
    #expect(page.next == SyncPosition(head) && !page.more)
    let badge = try await scene.fixture.chat.badge(of: scene.alice)
    #expect(page.items.first?.content == .badge(badge.0, head))
    let listed = page.items.compactMap { item in if case .room(let row) = item.content { row.room.id } else { nil } }
    #expect(listed == scene.rooms.reversed())
    var mirror = RoomsMirror()
    for item in page.items { mirror.apply(item.content) }
    #expect(mirror.messages[first]?.count == Limits.syncInitialMessages)
    #expect(mirror.gaps[first] == SyncGap(room: first, before: 7))
    for (index, room) in listed.enumerated().dropFirst() {
      let hasMessages = index < Limits.syncInitialRooms
      #expect(mirror.messages[room]?.count ?? 0 == (hasMessages ? 1 : 0))
      #expect(mirror.gaps[room] == (hasMessages ? nil : SyncGap(room: room, before: 2)))
    }
    #expect(mirror.members.count == Self.rooms)
    try scene.fixture.close()
  }

  @Test("nothing is missing, however small the pages are and whatever happens between them")
  func pages() async throws {
    let scene = try await SyncScene(rooms: Self.rooms)
    for (index, room) in scene.rooms.enumerated() where index.isMultiple(of: 5) {
      try await scene.send(index.isMultiple(of: 10) ? 40 : 4, to: room)
    }
    for limit in 1...7 {
      for perRoom in [nil, 2] {
        var (mirror, position, pages) = (RoomsMirror(), SyncPosition?.none, 0)
        var more = true
        while more {
          let page = try await scene.page(after: position, limit: limit, perRoom: perRoom)
          for item in page.items { mirror.apply(item.content) }
          (position, more) = (page.next, page.more)
          pages += 1
          try #require(pages < 5_000)
          if more, pages.isMultiple(of: 9), pages < 400 { try await scene.change() }
        }
        #expect(position == SyncPosition(scene.head))
        try await scene.check(mirror)
      }
    }
    try scene.fixture.close()
  }

  // MARK: - The newest messages of each room

  @Test("a gap reaches from the messages that are sent back to those that the client can have")
  func gaps() async throws {
    let scene = try await SyncScene(rooms: 2)
    let (busy, calm) = (scene.rooms[0], scene.rooms[1])
    let since = SyncPosition(scene.head)
    try await scene.send(3, to: calm)
    let ids = try await scene.send(5, to: busy)
    for (perRoom, isCut) in [(4, true), (5, false), (6, false)] {
      let page = try await scene.page(after: since, limit: 100, perRoom: perRoom)
      var mirror = RoomsMirror()
      for item in page.items { mirror.apply(item.content) }
      #expect(mirror.messages[calm]?.count == 3)
      #expect(Set(mirror.messages[busy]?.keys.map { $0 } ?? []) == Set(ids.suffix(perRoom)))
      let gap = SyncGap(room: busy, before: 3, until: SyncScene.first(of: 0))
      #expect(mirror.gaps == (isCut ? [busy: gap] : [:]))
      #expect(page.next == SyncPosition(scene.head))
    }
    try scene.fixture.close()
  }

  @Test("if more old messages changed than are sent, the client has to discard them")
  func changes() async throws {
    let scene = try await SyncScene(rooms: 1)
    let room = scene.rooms[0]
    let ids = try await scene.send(6, to: room)
    let since = SyncPosition(scene.head)
    for id in ids.prefix(3) { try await scene.perform(room, .messages(.edit(id, MessageEdit(text: "edited")))) }
    for (perRoom, gap) in [(2, SyncGap(room: room, before: 8)), (3, nil)] {
      for limit in 1...4 {
        var (mirror, position, more) = (RoomsMirror(), since, true)
        while more {
          let page = try await scene.page(after: position, limit: limit, perRoom: perRoom)
          for item in page.items { mirror.apply(item.content) }
          (position, more) = (page.next, page.more)
        }
        #expect(mirror.gaps[room] == gap)
        #expect(mirror.messages[room]?.count ?? 0 == (gap == nil ? 3 : 0))
      }
    }
    try scene.fixture.close()
  }

  // MARK: - Filters and targets

  @Test("a filter leaves out other items, and reaches the same position")
  func filters() async throws {
    let scene = try await SyncScene(rooms: 4)
    let room = scene.rooms[1]
    for start in [nil, SyncPosition(.origin)] {
      for filter in [
        SyncFilter(rooms: [room]), SyncFilter(types: [.message]), SyncFilter(rooms: [room], types: [.room, .member]),
        SyncFilter(types: [.account, .badge]), SyncFilter(rooms: [], types: [.gap]),
      ] {
        var all: [SyncItem.Content] = []
        var filtered: [SyncItem.Content] = []
        for (wanted, isFiltered) in [(SyncFilter(), false), (filter, true)] {
          var (position, more) = (start, true)
          while more {
            let page = try await scene.page(after: position, limit: 3, filter: wanted)
            if isFiltered { filtered += page.items.map(\.content) } else { all += page.items.map(\.content) }
            (position, more) = (page.next, page.more)
          }
          #expect(position == SyncPosition(scene.head))
        }
        // Users are repeated on each page that shows them.
        let expected = Set(all.filter { filter.shows($0) && !$0.isUser })
        #expect(Set(filtered.filter { !$0.isUser }) == expected)
        #expect(filtered.allSatisfy { filter.shows($0) })
      }
    }
    try await scene.perform(room, .lifecycle(.delete))
    let since = SyncPosition(LogPosition(scene.head.value - 1))
    for (types, count) in [([.room], 1), ([.message], 0)] as [(Set<SyncItemType>, Int)] {
      let page = try await scene.page(after: since, limit: 10, filter: SyncFilter(types: types))
      #expect(page.items.count == count && page.next == SyncPosition(scene.head))
    }
    try scene.fixture.close()
  }

  @Test("a response ends at its target, even if that is not the head")
  func target() async throws {
    let scene = try await SyncScene(rooms: 3)
    let target = scene.head
    try await scene.send(2, to: scene.rooms[0])
    for start in [nil, SyncPosition(.origin)] {
      for limit in [2, 500] {
        var (position, items, more) = (start, [SyncItem](), true)
        while more {
          let page = try await scene.page(after: position, limit: limit, target: target)
          items += page.items
          (position, more) = (page.next, page.more)
        }
        #expect(position == SyncPosition(target))
        #expect(items.allSatisfy { $0.revision <= target })
      }
    }
    let before = try await scene.page(
      after: SyncPosition(target), limit: 1, target: LogPosition(target.value - 1))
    #expect(before.items.isEmpty && before.next == SyncPosition(target) && !before.more)
    try scene.fixture.close()
  }
}

/// Alice has rooms with one message in each.
private final class SyncScene {
  let fixture: ServiceFixture
  let alice: UserID
  let rooms: [RoomID]
  private let bob: UserID
  /// A room of Bob's, older than the others, that Alice joins and leaves.
  private let bobsRoom: RoomID = fixed(999)
  private var isInBobsRoom = false
  private var sent: UInt64 = 0
  private var changes = 0

  init(rooms count: Int) async throws {
    fixture = try await ServiceFixture()
    (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    rooms = (0..<UInt64(count)).map { fixed(1_000 + $0) }
    let creation = RoomCreation(kind: .group, name: "room of Bob", creator: bob)
    try await perform(bobsRoom, .lifecycle(.create(creation)), by: bob)
    _ = try await fixture.send("hello", 9_999, to: bobsRoom, by: bob)
    for (index, room) in rooms.enumerated() {
      let creation = RoomCreation(kind: .group, name: "room \(index)", creator: alice)
      try await perform(room, .lifecycle(.create(creation)))
      _ = try await fixture.send("hello", 10_000 + UInt64(index), to: room, by: alice)
    }
  }

  var head: LogPosition { fixture.log.head }

  static func first(of room: UInt64) -> MessageID { fixed(10_000 + room) }

  func perform(_ room: RoomID, _ command: RoomCommand, by user: UserID? = nil) async throws {
    _ = try await fixture.chat.performRoom(room, command, by: Principal(user: user ?? alice))
  }

  @discardableResult
  func send(_ count: Int, to room: RoomID) async throws -> [MessageID] {
    var ids: [MessageID] = []
    for _ in 0..<count {
      sent += 1
      _ = try await fixture.send("message \(sent)", 20_000 + sent, to: room, by: alice)
      ids.append(fixed(20_000 + sent))
    }
    return ids
  }

  /// Moves a room in the list, or changes what is in it.
  func change() async throws {
    changes += 1
    let index = changes * 7 % rooms.count
    let (room, first) = (rooms[index], Self.first(of: UInt64(index)))
    switch changes % 7 {
    case 0: try await perform(room, .lifecycle(.edit(RoomEdit(name: "renamed \(changes)"))))
    case 1: try await send(1, to: room)
    case 2: try await perform(room, .messages(.edit(first, MessageEdit(text: "edit \(changes)"))))
    case 3: try await perform(room, .lifecycle(.archive))
    case 4: for room in rooms { try await perform(room, .lifecycle(.restore)) }
    case 5:
      if isInBobsRoom {
        try await perform(bobsRoom, .members(.leave))
      } else {
        try await perform(bobsRoom, .members(.add(alice)), by: bob)
      }
      isInBobsRoom.toggle()
    default: try await send(3, to: rooms[0])
    }
  }

  func page(
    after position: SyncPosition?, limit: Int, perRoom: Int? = nil, filter: SyncFilter = SyncFilter(),
    target: LogPosition? = nil
  ) async throws -> SyncPage {
    try await fixture.chat.changes(
      for: alice,
      SyncRequest(after: position, limit: limit, perRoom: perRoom, filter: filter, target: target))
  }

  /// What the client has, and what it can load behind gaps, must be what queries show.
  func check(_ mirror: RoomsMirror) async throws {
    let chat = fixture.chat
    #expect((mirror.rooms[bobsRoom] != nil) == isInBobsRoom)
    for room in rooms + (isInBobsRoom ? [bobsRoom] : []) {
      let (row, _) = try await chat.room(room, for: alice)
      #expect(mirror.rooms[room]?.room.name == row.room.name)
      #expect(mirror.rooms[room]?.room.archived == row.room.archived)
      #expect(mirror.rooms[room]?.room.lastMessage == row.room.lastMessage)
      #expect(mirror.members[room] == (room == bobsRoom ? [alice, bob] : [alice]))
      var messages = mirror.messages[room] ?? [:]
      if let gap = mirror.gaps[room] {
        let page = try await chat.messages(of: room, for: alice, .before(.ordinal(gap.before)), limit: 1_000)
        for message in page.messages { messages[message.id] = message.text }
      }
      let all = try await chat.messages(of: room, for: alice, .newest, limit: 1_000)
      #expect(messages == Dictionary(uniqueKeysWithValues: all.messages.map { ($0.id, $0.text) }))
    }
  }
}

/// What a client has of rooms.
private struct RoomsMirror {
  var rooms: [RoomID: RoomListRow] = [:]
  var members: [RoomID: Set<UserID>] = [:]
  var messages: [RoomID: [MessageID: String]] = [:]
  var gaps: [RoomID: SyncGap] = [:]
  private var ordinals: [MessageID: UInt64] = [:]

  mutating func apply(_ content: SyncItem.Content) {
    switch content {
    case .room(let row): rooms[row.room.id] = row
    case .member(let row): members[row.room, default: []].insert(row.user)
    case .message(let message):
      ordinals[message.row.id] = message.row.ordinal
      messages[message.row.room, default: [:]][message.row.id] = message.row.text
    case .gap(let gap):
      // A client with two gaps pages back from the newer one, beyond what it has between them.
      gaps[gap.room] = gap
      guard gap.until == nil else { return }
      let known = messages[gap.room] ?? [:]
      messages[gap.room] = known.filter { id, _ in ordinals[id].map { $0 >= gap.before } ?? true }
    case .removed(.lostRoom(let room)):
      (rooms[room], members[room], messages[room], gaps[room]) = (nil, nil, nil, nil)
    case .removed(.member(let user, let room)): members[room]?.remove(user)
    default: break
    }
  }
}

extension SyncFilter {
  /// Whether an item is what the filter asks for, written down a second time.
  fileprivate func shows(_ content: SyncItem.Content) -> Bool {
    let (type, room): (SyncItemType, RoomID?) =
      switch content {
      case .account: (.account, nil)
      case .preferences: (.preferences, nil)
      case .room(let row): (.room, row.room.id)
      case .member(let row): (.member, row.room)
      case .readMarker(_, let room): (.readMarker, room)
      case .message(let message): (.message, message.row.room)
      case .gap(let gap): (.message, gap.room)
      case .badge: (.badge, nil)
      default: (.user, nil)
      }
    return (types?.contains(type) ?? true) && (room.map { rooms?.contains($0) ?? true } ?? true)
  }
}

extension SyncItem.Content {
  fileprivate var isUser: Bool {
    if case .user = self { true } else { false }
  }
}
