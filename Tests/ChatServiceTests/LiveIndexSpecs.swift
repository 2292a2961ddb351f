import ChatDomain
import ChatPrimitives
import ChatProjections
import Testing

@testable import ChatService

@Suite("Whom an event concerns")
struct LiveIndexSpecs {
  private let alice: UserID = fixed(1)
  private let bob: UserID = fixed(2)
  private let carol: UserID = fixed(3)
  private let room: RoomID = fixed(40)
  private let channel: RoomID = fixed(41)
  private let office: WorkspaceID = fixed(60)

  private func recorded(_ event: ChatEvent, by actor: UserID? = nil) -> RecordedEvent {
    RecordedEvent(
      stamp: Stamp(position: LogPosition(9), time: Timestamp(milliseconds: 0)), version: StreamVersion(1),
      actor: actor, service: nil, device: nil, command: nil, originalTime: nil, event: event)
  }

  /// Alice and Bob are in the room; Alice is in the workspace with the channel.
  private func index() -> LiveIndex {
    var index = LiveIndex()
    index.set(UserSpaces(rooms: [room], workspaces: [office], channels: [office: [channel]]), of: alice)
    index.set(UserSpaces(rooms: [room]), of: bob)
    index.set(UserSpaces(), of: carol)
    return index
  }

  private func concerned(_ event: ChatEvent, by actor: UserID? = nil, _ index: LiveIndex? = nil) -> Set<UserID> {
    var wakes = LiveWakes()
    (index ?? self.index()).collect(recorded(event, by: actor), into: &wakes)
    return wakes.users
  }

  private func message(_ room: RoomID) -> ChatEvent {
    .room(room, .messages(.sent(fixed(50), author: alice, thread: nil, nil)))
  }

  @Test("a message concerns the members of its room, a mark only the user who set it")
  func messages() {
    #expect(concerned(message(room)) == [alice, bob])
    #expect(concerned(.room(room, .reading(.markedUnread(bob, from: fixed(50), ordinal: 1)))) == [bob])
    #expect(concerned(.room(room, .members(.muted(bob, until: nil)))) == [bob])
    #expect(concerned(.room(room, .members(.notificationsSet(bob, .mentions)))) == [bob])
    #expect(concerned(.room(room, .members(.hidden(bob)))) == [bob])
    #expect(concerned(.room(room, .members(.shown(bob)))) == [bob])
  }

  @Test("a user who joins or leaves is concerned, and so are the members before and after")
  func membership() {
    var index = index()
    let joins = ChatEvent.room(room, .members(.joined(carol, role: .member, invite: nil)))
    #expect(concerned(joins, index) == [alice, bob, carol])
    index.apply(joins)
    #expect(concerned(message(room), index) == [alice, bob, carol])
    let leaves = ChatEvent.room(room, .members(.banned(bob)))
    #expect(concerned(leaves, index) == [alice, bob, carol])
    index.apply(leaves)
    #expect(concerned(message(room), index) == [alice, carol])
    // Applying events again ends with the same members.
    for event in [joins, leaves] { index.apply(event) }
    #expect(concerned(message(room), index) == [alice, carol])
  }

  @Test("the name and the number of members of a public channel concern the members of its workspace")
  func channels() {
    var index = index()
    #expect(concerned(.room(channel, .lifecycle(.edited(RoomEdit(name: "news")))), index) == [alice])
    #expect(concerned(.room(channel, .members(.left(carol))), index) == [alice, carol])
    #expect(concerned(message(channel), index) == [])
    let other: RoomID = fixed(42)
    let creation = RoomCreation(kind: .channel, name: "x", creator: carol, workspace: office, isPublic: true)
    #expect(concerned(.room(other, .lifecycle(.created(creation))), index) == [alice, carol])
    index.apply(.room(other, .lifecycle(.created(creation))))
    #expect(concerned(.room(other, .lifecycle(.deleted)), index) == [alice])
    index.apply(.room(other, .lifecycle(.deleted)))
    #expect(concerned(.room(other, .lifecycle(.archived)), index) == [])
  }

  @Test("a user who joins a workspace that nobody else in the index is in has to be read again")
  func outdated() {
    var index = index()
    let other: WorkspaceID = fixed(61)
    index.apply(.workspace(office, .members(.joined(bob, role: .member, by: .service))))
    #expect(index.takeOutdated() == [])
    index.apply(.workspace(other, .members(.joined(bob, role: .member, by: .service))))
    #expect(index.takeOutdated() == [bob])
    #expect(index.needsChannels(of: other) && !index.needsChannels(of: office))
    index.remove(alice)
    #expect(!index.needsChannels(of: office))
    index.apply(.workspace(office, .members(.left(bob))))
    #expect(index.needsChannels(of: office))
  }

  @Test("a deletion concerns authors of scheduled messages who have left, and users who are invited")
  func deletions() {
    var index = index()
    index.set(UserSpaces(scheduled: [room], invitations: [office]), of: carol)
    #expect(concerned(.room(room, .lifecycle(.deleted)), index) == [alice, bob, carol])
    #expect(concerned(.room(room, .scheduling(.cancelled(fixed(50)))), index) == [carol])
    #expect(concerned(.workspace(office, .lifecycle(.deleted)), index) == [alice, carol])
    index.apply(.workspace(office, .lifecycle(.deleted)))
    #expect(concerned(.workspace(office, .lifecycle(.edited(WorkspaceEdit()))), index) == [])
  }

  @Test(
    "a new profile concerns all who share a room or workspace; a user without a stream has to be looked up",
    arguments: [ProfileEdit(nickname: "b"), ProfileEdit(picture: .remove)])
  func profiles(edit: ProfileEdit) {
    let renamed = UserEvent.account(.profileChanged(edit))
    #expect(concerned(.user(bob, renamed)) == [alice, bob])
    var wakes = LiveWakes()
    let (stranger, index) = (fixed(9) as UserID, index())
    index.collect(recorded(.user(stranger, renamed)), into: &wakes)
    #expect(wakes == LiveWakes(profiles: [stranger]))
    #expect(index.members(of: UserSpaces(rooms: [room], workspaces: [office])) == [alice, bob])
    #expect(concerned(.user(bob, .account(.emailSet("b@example.com")))) == [bob])
  }

  @Test(
    "markers concern the other members only while there can be at most as many as follow each other",
    arguments: [0, 1])
  func markers(more: UInt64) {
    var index = LiveIndex()
    let members: [UserID] = (1...Limits.receiptMembers + more).map { fixed($0) }
    for user in members { index.set(UserSpaces(rooms: [room]), of: user) }
    let moved = ChatEvent.room(room, .reading(.markerMoved(alice, to: fixed(50), ordinal: 1)))
    #expect(concerned(moved, index) == (more == 0 ? Set(members) : [alice]))
  }

  @Test("a user without streams is forgotten")
  func removal() {
    var index = index()
    for user in [alice, bob, carol] { index.remove(user) }
    #expect(index.users.isEmpty && index.members == LiveAudience() && index.workspaceMembers == LiveAudience())
    #expect(concerned(message(room), by: alice, index) == [])
    index.apply(.room(room, .members(.joined(bob, role: .member, invite: nil))))
    #expect(index.members == LiveAudience())
  }
}
