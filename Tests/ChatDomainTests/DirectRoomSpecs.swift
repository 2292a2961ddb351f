import ChatDomain
import ChatPrimitives
import Testing

@Suite("Direct rooms")
struct DirectRoomSpecs {
  private var direct: Given<RoomDecider> {
    given(
      RoomDecider.self,
      [
        .lifecycle(.created(.direct(alice, bob))), .members(.joined(alice, role: .member, invite: nil)),
        .members(.added(bob, role: .member)),
      ])
  }

  @Test("all members join at its creation, and it has no owner")
  func creates() {
    let creation = RoomCreation.direct(alice, bob, carol)
    given(RoomDecider.self, []).when(.lifecycle(.create(creation)), by: .user(alice)).thenRecorded(
      .lifecycle(.created(creation)), .members(.joined(alice, role: .member, invite: nil)),
      .members(.added(bob, role: .member)),
      .members(.added(carol, role: .member)))
    given(RoomDecider.self, []).when(.lifecycle(.create(creation)), by: .service(for: alice)).thenAccepted()
    given(RoomDecider.self, []).when(.lifecycle(.create(.direct(alice, stranger))), by: .user(alice)).thenRejected(
      .userNotFound)
    given(RoomDecider.self, []).when(.lifecycle(.create(creation)), by: .user(bob)).thenRejected(.forbidden)
    var foreign = RoomCreation.direct(bob, carol)
    foreign.creator = alice
    given(RoomDecider.self, []).when(.lifecycle(.create(foreign)), by: .user(alice)).thenRejected(.forbidden)
  }

  @Test("every member who requests it gets the same room")
  func isOne() {
    direct.when(.lifecycle(.create(.direct(alice, bob))), by: .user(alice)).thenAlreadyDone(at: 1)
    direct.when(.lifecycle(.create(.direct(bob, alice))), by: .user(bob)).thenAlreadyDone(at: 1)
    direct.when(.lifecycle(.create(.direct(bob, carol))), by: .user(bob)).thenRejected(.idInUse)
  }

  @Test("how many others it has", arguments: [(0, false), (1, true), (7, true), (8, true), (9, false)])
  func size(others: UInt64, isAccepted: Bool) {
    let users: [UserID] = [alice] + (0..<others).map { id(100 + $0) }
    let creation = RoomCreation(kind: .direct, name: "", creator: alice, participants: users.sorted())
    let outcome = given(RoomDecider.self, []).with(TestDirectory(registered: Set(users)))
      .when(.lifecycle(.create(creation)), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.directMembersOutOfRange) }
  }

  @Test("its members, name, topic and picture are fixed for everyone; strangers learn nothing")
  func isFixed() {
    let fixed: [RoomCommand] = [
      .lifecycle(.edit(RoomEdit(name: "us"))), .lifecycle(.edit(RoomEdit(topic: "us"))), .lifecycle(.archive),
      .lifecycle(.restore), .lifecycle(.delete), .sharing(.createInvite(.giving())),
      .sharing(.revokeInvite(link)), .members(.add(carol)), .members(.remove(bob)), .members(.leave),
      .members(.changeRole(bob, .administrator)),
      .members(.transfer(to: bob)), .members(.ban(bob)), .members(.unban(bob)), .members(.silence(bob, until: noon)),
    ]
    for command in fixed {
      direct.when(command, by: .user(alice)).thenRejected(.directRoomFixed)
      direct.when(command, by: .user(carol)).thenRejected(.roomNotFound)
      if command != .members(.leave) { direct.when(command, by: .service()).thenRejected(.directRoomFixed) }
    }
    direct.when(.members(.join), by: .service(for: carol)).thenRejected(.directRoomFixed)
  }

  @Test("its members speak in it, read it and mute it")
  func isARoom() {
    direct.when(.send(), by: .user(bob)).thenAccepted()
    direct.when(.members(.mute(until: noon)), by: .user(bob)).thenAccepted()
    direct.knowing(hello, .of(bob, at: 4)).when(.reading(.moveMarker(to: hello)), by: .user(alice)).thenAccepted()
  }
}
