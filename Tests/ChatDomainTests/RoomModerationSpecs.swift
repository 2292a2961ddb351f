import ChatDomain
import ChatPrimitives
import Testing

@Suite("Roles, ownership, bans and silence")
struct RoomModerationSpecs {
  private let newcomer: UserID = id(60)
  private let later = noon.adding(milliseconds: 60_000)
  private func room(_ later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + later).with(TestDirectory(registered: [alice, bob, carol, dave, newcomer]))
  }

  // MARK: Roles

  @Test("a user can give members below them a role up to their own")
  func changesRoles() {
    room().when(.members(.changeRole(carol, .administrator)), by: .user(alice))
      .thenRecorded(.members(.roleChanged(carol, .administrator)))
    room().when(.members(.changeRole(bob, .member)), by: .user(alice)).thenRecorded(
      .members(.roleChanged(bob, .member)))
    room().when(.members(.changeRole(carol, .administrator)), by: .user(bob)).thenAccepted()
    room().when(.members(.changeRole(carol, .member)), by: .service()).thenAccepted()
    let twoAdministrators = room([.members(.roleChanged(carol, .administrator))])
    twoAdministrators.when(.members(.changeRole(carol, .member)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.changeRole(dave, .administrator)), by: .user(carol)).thenRejected(.forbidden)
    room().when(.members(.changeRole(newcomer, .member)), by: .user(alice)).thenRejected(.memberNotFound)
    room().when(.members(.changeRole(carol, .member)), by: .user(newcomer)).thenRejected(.roomNotFound)
  }

  @Test("a user can lower their own role, except as the room's owner")
  func lowersOneself() {
    room().when(.members(.changeRole(bob, .member)), by: .user(bob)).thenAccepted()
    room().when(.members(.changeRole(alice, .administrator)), by: .user(alice)).thenRejected(.ownerMustTransfer)
    room().when(.members(.changeRole(carol, .member)), by: .user(carol)).thenAccepted()
    room().when(.members(.changeRole(carol, .administrator)), by: .user(carol)).thenRejected(.roleNotAllowed)
    room().when(.members(.changeRole(newcomer, .member)), by: .user(newcomer)).thenRejected(.roomNotFound)
  }

  @Test("ownership is neither given nor taken by a role")
  func ownership() {
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      room().when(.members(.changeRole(carol, .owner)), by: context).thenRejected(.roleNotAllowed)
    }
    room().when(.members(.changeRole(alice, .member)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.changeRole(alice, .member)), by: .service()).thenRejected(.ownerMustTransfer)
  }

  @Test("the owner transfers the room and becomes an administrator")
  func transfers() {
    room().when(.members(.transfer(to: carol)), by: .user(alice))
      .thenRecorded(.members(.roleChanged(carol, .owner)), .members(.roleChanged(alice, .administrator)))
    room().when(.members(.transfer(to: carol)), by: .service())
      .thenRecorded(.members(.roleChanged(carol, .owner)), .members(.roleChanged(alice, .administrator)))
    room().when(.members(.transfer(to: carol)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.transfer(to: alice)), by: .user(alice)).thenRejected(.roleNotAllowed)
    room().when(.members(.transfer(to: newcomer)), by: .user(alice)).thenRejected(.memberNotFound)
    room().when(.members(.transfer(to: carol)), by: .user(newcomer)).thenRejected(.roomNotFound)
    let ownerless = given(
      RoomDecider.self, [.lifecycle(.created(.named(by: nil))), .members(.joined(carol, role: .member, invite: nil))])
    ownerless.when(.members(.transfer(to: carol)), by: .service()).thenRecorded(.members(.roleChanged(carol, .owner)))
  }

  @Test("after an owner is removed, the longest-standing member with the highest role owns the room")
  func succession() {
    room().when(.members(.remove(alice)), by: .service())
      .thenRecorded(.members(.removed(alice)), .members(.roleChanged(bob, .owner)))
    room([.members(.roleChanged(bob, .member))]).when(.members(.ban(alice)), by: .service())
      .thenRecorded(.members(.banned(alice)), .members(.roleChanged(bob, .owner)))
    room([.members(.roleChanged(dave, .administrator)), .members(.left(bob))]).when(
      .members(.remove(alice)), by: .service()
    )
    .thenRecorded(.members(.removed(alice)), .members(.roleChanged(dave, .owner)))
    room([.members(.left(bob)), .members(.left(carol)), .members(.left(dave))]).when(
      .members(.remove(alice)), by: .service()
    )
    .thenRecorded(.members(.removed(alice)))
  }

  // MARK: Bans

  @Test("administrators ban those below them, and strangers too")
  func bans() {
    room().when(.members(.ban(carol)), by: .user(bob)).thenRecorded(.members(.banned(carol)))
    room().when(.members(.ban(newcomer)), by: .user(bob)).thenRecorded(.members(.banned(newcomer)))
    room().when(.members(.ban(alice)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.ban(bob)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.ban(stranger)), by: .user(bob)).thenRejected(.userNotFound)
    room().when(.members(.ban(dave)), by: .user(carol)).thenRejected(.forbidden)
    room().when(.members(.ban(dave)), by: .user(newcomer)).thenRejected(.roomNotFound)
    room([.members(.banned(dave))]).when(.members(.ban(dave)), by: .user(bob)).thenAlreadyDone(at: 6)
    #expect(room([.members(.banned(dave))]).state.room?.members[dave] == nil)
  }

  @Test("a banned user cannot join in any way until the ban is lifted")
  func keepsOut() {
    let shared: [RoomEvent] = [.sharing(.inviteCreated(.giving())), .members(.banned(dave))]
    let ways: [(RoomCommand, CommandContext)] = [
      (.members(.join), .service(for: dave)), (.members(.add(dave)), .user(alice)),
      (.sharing(.acceptInvite(link)), .user(dave)),
    ]
    for (command, context) in ways {
      room(shared).when(command, by: context).thenRejected(.banned)
      room(shared + [.members(.unbanned(dave))]).when(command, by: context).thenAccepted()
    }
    room(shared).when(.send(), by: .user(dave)).thenRejected(.roomNotFound)
    room(shared).when(.members(.unban(dave)), by: .user(bob)).thenRecorded(.members(.unbanned(dave)))
    room(shared).when(.members(.unban(dave)), by: .user(carol)).thenRejected(.forbidden)
    room(shared).when(.members(.unban(carol)), by: .user(bob)).thenRejected(.banNotFound)
  }

  @Test("a ban is checked before other reasons for a rejection, and does not reveal invisible rooms")
  func banComesFirst() {
    let shared: [RoomEvent] = [.sharing(.inviteCreated(.giving(uses: 1)))]
    let accept = RoomCommand.sharing(.acceptInvite(link))
    for (later, refusal): ([RoomEvent], Rejection) in [
      ([.lifecycle(.archived)], .roomArchived), ([.sharing(.inviteRevoked(link))], .inviteRevoked),
      ([.members(.joined(id(61), role: .member, invite: link))], .inviteUsedUp),
      ([.lifecycle(.deleted)], .inviteNotFound),
    ] {
      room(shared + later).when(accept, by: .user(newcomer)).thenRejected(refusal)
      room(shared + [.members(.banned(newcomer))] + later).when(accept, by: .user(newcomer))
        .thenRejected(refusal == .inviteNotFound ? refusal : .banned)
    }
    let banned = room(shared + [.members(.banned(newcomer))])
    banned.when(.sharing(.acceptInvite(id(31))), by: .user(newcomer)).thenRejected(.inviteNotFound)
    banned.when(.members(.join), by: .user(newcomer)).thenRejected(.roomNotFound)
    room(shared + [.lifecycle(.archived)]).when(.members(.join), by: .service(for: newcomer)).thenRejected(
      .roomArchived)
    room(shared + [.members(.banned(newcomer)), .lifecycle(.deleted)]).when(
      .members(.join), by: .service(for: newcomer)
    )
    .thenRejected(.roomNotFound)
  }

  @Test("how many bans a room has", arguments: [(9_999, true), (10_000, false), (10_001, false)])
  func banCount(count: UInt64, isAccepted: Bool) {
    let outcome = room((0..<count).map { .members(.banned(id(1000 + $0))) }).when(
      .members(.ban(dave)), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyBans) }
  }

  // MARK: Silence

  @Test("expired silences are dropped when the next silenced member leaves")
  func forgetsSilences() {
    let (soon, end) = (Stamp.at(8).time, Stamp.at(9).time)
    let gone: [RoomEvent] = [
      .members(.silenced(carol, until: soon)), .members(.silenced(dave, until: later)), .members(.left(carol)),
    ]
    #expect(room(gone).state.room?.silencedAway == [:])
    let kept: [RoomEvent] = [.members(.silenced(carol, until: end)), .members(.left(carol))]
    #expect(room(kept).state.room?.silencedAway == [carol: end])
    let both = kept + [.members(.silenced(dave, until: later)), .members(.left(dave))]
    #expect(room(both).state.room?.silencedAway == [dave: later])
  }

  @Test("administrators silence those below them")
  func silences() {
    room().when(.members(.silence(carol, until: later)), by: .user(bob)).thenRecorded(
      .members(.silenced(carol, until: later)))
    room().when(.members(.silence(carol, until: nil)), by: .user(bob)).thenRecorded(
      .members(.silenced(carol, until: nil)))
    room().when(.members(.silence(alice, until: later)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.silence(bob, until: later)), by: .user(bob)).thenRejected(.forbidden)
    room().when(.members(.silence(dave, until: later)), by: .user(carol)).thenRejected(.forbidden)
    room().when(.members(.silence(newcomer, until: later)), by: .user(bob)).thenRejected(.memberNotFound)
    room().when(.members(.silence(carol, until: later)), by: .user(newcomer)).thenRejected(.roomNotFound)
  }

  @Test("a silenced member can write again afterwards, and can read, delete and leave meanwhile")
  func voice() {
    let said: [RoomEvent] = [.messages(.sent(hello, author: carol, thread: nil, .plain("hello")))]
    func knowing(_ later: [RoomEvent]) -> Given<RoomDecider> {
      room(said + later).knowing(hello, .of(carol, at: 6)).knowing(id(42), .of(bob, ordinal: 2, at: 7))
    }
    func silenced(_ until: Timestamp) -> Given<RoomDecider> { knowing([.members(.silenced(carol, until: until))]) }
    let loud: [RoomCommand] = [.send(id: id(41)), .messages(.edit(hello, .plain("hi")))]
    for command in loud {
      silenced(noon.adding(milliseconds: 1)).when(command, by: .user(carol)).thenRejected(.memberSilenced)
      silenced(noon.adding(milliseconds: 1)).when(command, by: .service(for: carol)).thenRejected(.memberSilenced)
      silenced(noon).when(command, by: .user(carol)).thenAccepted()
      knowing([.members(.silenced(carol, until: later)), .members(.silenced(carol, until: nil))])
        .when(command, by: .user(carol)).thenAccepted()
    }
    for quiet: RoomCommand in [
      .messages(.delete(hello)), .members(.leave), .members(.mute(until: nil)),
      .reading(.moveMarker(to: id(42))),
    ] {
      silenced(later).when(quiet, by: .user(carol)).thenAccepted()
    }
  }

  @Test("leaving and rejoining does not end a silence")
  func silenceStays() {
    for end: RoomEvent in [.members(.left(carol)), .members(.removed(carol)), .members(.banned(carol))] {
      let back: [RoomEvent] = [.members(.silenced(carol, until: later)), end, .members(.added(carol, role: .member))]
      room(back).when(.send(), by: .user(carol)).thenRejected(.memberSilenced)
      #expect(room(back).state.room?.silencedAway.isEmpty == true)
      let over: [RoomEvent] = [.members(.silenced(carol, until: Stamp.at(6).time)), end]
      #expect(room(over).state.room?.silencedAway.isEmpty == true)
    }
  }
}
