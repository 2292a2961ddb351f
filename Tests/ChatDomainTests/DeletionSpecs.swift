import ChatDomain
import ChatPrimitives
import Testing

extension Erasure {
  static let ofAlice = Erasure(deletion: LogPosition(4), erasedRecords: 3, keptRecords: 2)
}

@Suite("Deleted accounts")
struct DeletionSpecs {
  private static let proof = UserCommand.deletion(.deleteAccount(proof: .password(version: 1)))
  private var atHome: Given<UserDecider> { given(UserDecider.self, aliceAtHome + [.blocks(.blocked(bob))]) }

  /// The deletion is at position 4.
  private func deleted(_ later: UserEvent...) -> Given<UserDecider> {
    given(UserDecider.self, aliceAtHome + [.deletion(.deleted)] + later)
  }

  @Test("a deletion ends the sessions and blocks, removes the devices, and is the last event")
  func deletes() {
    atHome.when(Self.proof, by: .user(alice, session: login)).thenRecorded(
      .sessions(.ended(login, .accountDeleted)), .devices(.removed(phone)), .blocks(.unblocked(bob)),
      .deletion(.deleted))
    #expect(deleted().state == .deleted(DeletedUser(deleted: .at(4))))
  }

  @Test("needs the password or a linked login, unless a service asks")
  func proofs() {
    let command = { (proof: LoginProof) in UserCommand.deletion(.deleteAccount(proof: proof)) }
    atHome.when(command(.password(version: 2)), by: .user(alice)).thenRejected(.passwordWrong)
    atHome.when(command(.service), by: .user(alice)).thenRejected(.passwordWrong)
    atHome.when(command(.identity(.of("a"))), by: .user(alice)).thenRejected(.linkedLoginRequired)
    atHome.when(Self.proof, by: .user(bob)).thenRejected(.forbidden)
    atHome.when(command(.service), by: .service()).thenAccepted()
    let linked = given(UserDecider.self, aliceAtHome + [.logins(.identityLinked(.of("a")))])
    linked.when(command(.identity(.of("a"))), by: .user(alice)).thenAccepted()
  }

  @Test("a retry gets the first response, whatever happened since")
  func retries() {
    deleted().when(Self.proof, by: .user(alice, session: login, key: .retried)).thenAlreadyDone(at: 4)
    deleted(.deletion(.erased(.ofAlice))).when(Self.proof, by: .service()).thenAlreadyDone(at: 4)
    deleted().when(Self.proof, by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("the ID stays in use, and nobody logs in")
  func afterwards() {
    deleted().when(.account(.register(.named())), by: .nobody()).thenRejected(.idInUse)
    deleted().when(.account(.enable), by: .service()).thenRejected(.userNotFound)
    deleted().when(.sessions(.start(otherLogin, device: nil, proof: .password(version: 1))), by: .user(alice))
      .thenRejected(.userNotFound)
    for event in aliceAtHome + [.erased(kind: 7)] {
      #expect(deleted(event).state == deleted().state)
    }
    // Also after a rebuild from a log without the payloads.
    #expect(given(UserDecider.self, [.erased(kind: 1), .deletion(.deleted)]).state == .deleted(DeletedUser(deleted: .at(2))))
  }

  @Test("the erasure is complete once")
  func erasure() {
    let complete = UserCommand.deletion(.completeErasure(.ofAlice))
    deleted().when(complete, by: .service()).thenRecorded(.deletion(.erased(.ofAlice)))
    deleted(.deletion(.erased(.ofAlice))).when(complete, by: .service()).thenAlreadyDone(at: 5)
    deleted().when(complete, by: .user(alice)).thenRejected(.serviceOnly)
    deleted().when(complete, by: .service(for: alice)).thenRejected(.serviceOnly)
    atHome.when(complete, by: .service()).thenRejected(.userNotFound)
  }

  @Test("a deletion is never refused by a quota")
  func quota() {
    let events: [ChatEvent] = [.room(id(70), .members(.left(alice))), .user(alice, .deletion(.deleted))]
    #expect(QuotaPurpose(of: events, under: nil) == .endingSessions)
  }
}

@Suite("What follows from a deleted account")
struct WithdrawalSpecs {
  private static let joined: [RoomEvent] = teaRoom + [.members(.added(ghost, role: .member))]

  private func withdrawal(from events: [RoomEvent]) -> [RoomEvent]? {
    given(RoomDecider.self, events).state.room?.withdrawal(of: ghost)
  }

  private func withdrawal(of user: UserID, from events: [WorkspaceEvent]) -> [WorkspaceEvent]? {
    given(WorkspaceDecider.self, events).state.workspace?.withdrawal(of: user)
  }

  @Test("the user leaves a room, without invites and pending messages")
  func leaves() {
    var waiting = ScheduledMessage.saying(by: alice)
    waiting.author = ghost
    var room = given(RoomDecider.self, Self.joined).state
    RoomDecider.evolve(&room, .sharing(.inviteCreated(.giving())), .at(7), by: ghost)
    RoomDecider.evolve(&room, .sharing(.inviteCreated(.giving(id: id(31)))), .at(8), by: alice)
    RoomDecider.evolve(&room, .scheduling(.scheduled(hello, waiting)), .at(9), by: ghost)
    #expect(
      room.room?.withdrawal(of: ghost) == [
        .sharing(.inviteRevoked(link)), .scheduling(.cancelled(hello)), .members(.left(ghost)),
      ])
    #expect(withdrawal(from: Self.joined + [.members(.left(ghost))]) == [])
  }

  @Test("ownership passes to the member with the highest role, and an empty room is deleted")
  func passesOwnership() {
    let owned = Self.joined + [.members(.roleChanged(ghost, .owner)), .members(.roleChanged(alice, .administrator))]
    #expect(withdrawal(from: owned) == [.members(.left(ghost)), .members(.roleChanged(alice, .owner))])
    let alone: [RoomEvent] = [
      .lifecycle(.created(.named(by: ghost))), .members(.joined(ghost, role: .owner, invite: nil)),
    ]
    #expect(withdrawal(from: alone) == [.lifecycle(.deleted)])
  }

  @Test("in a direct room the user stays a participant")
  func staysInDirectRooms() {
    let direct: [RoomEvent] = [
      .lifecycle(.created(.direct(alice, ghost))), .members(.added(alice, role: .member)),
      .members(.added(ghost, role: .member)),
    ]
    #expect(withdrawal(from: direct) == [])
  }

  @Test("a workspace passes to the next member, or is deleted with its last one")
  func workspaces() {
    #expect(
      withdrawal(of: alice, from: officeEvents) == [.members(.left(alice)), .members(.roleChanged(bob, .owner))])
    #expect(withdrawal(of: dave, from: officeEvents) == [.members(.left(dave))])
    #expect(withdrawal(of: alice, from: Array(officeEvents.prefix(2))) == [.lifecycle(.deleted)])
    let invited = officeEvents + [.invitations(.invited(ghost, role: .member))]
    #expect(withdrawal(of: ghost, from: invited) == [.invitations(.withdrawn(ghost))])
    #expect(withdrawal(of: ghost, from: officeEvents) == [])
  }

  @Test("messages and reactions of the user are removed once")
  func erases() {
    let room = given(RoomDecider.self, teaRoom)
    let erase = RoomCommand.erasing(.message(hello, of: ghost, after: LogPosition(20)))
    let written = room.knowing(hello, .of(ghost, at: 7))
    written.when(erase, by: .service()).thenRecorded(.messages(.deleted(hello, at: .room(1))))
    // Deleted before the account was: the read models have to forget the fingerprint, too.
    room.knowing(hello, .of(ghost, at: 7, deletedAt: 8)).when(erase, by: .service()).thenAccepted()
    room.knowing(hello, .of(ghost, at: 7, deletedAt: 21)).when(erase, by: .service()).thenAlreadyDone(at: 21)
    room.knowing(hello, .of(bob, at: 7)).when(erase, by: .service()).thenRejected(.forbidden)
    written.when(erase, by: .user(alice)).thenRejected(.serviceOnly)
    let unreact = RoomCommand.erasing(.reactions(hello, emoji: "👍", of: ghost))
    let one = ReactionCounts(kinds: 1, users: 1, ownKinds: 1, isOwn: true)
    let reacted = room.knowing(hello, .of(bob, at: 7))
    reacted.knowing(reactions: one, emoji: "👍", of: ghost, on: hello).when(unreact, by: .service())
      .thenRecorded(.annotations(.reactionRemoved(hello, at: .room(1), by: ghost, emoji: "")))
    reacted.when(unreact, by: .service()).thenAlreadyDone(at: 7)
    // The user took a reaction back.
    let forget = RoomCommand.erasing(.reactions(hello, emoji: nil, of: ghost))
    reacted.when(forget, by: .service())
      .thenRecorded(.annotations(.reactionRemoved(hello, at: .room(1), by: ghost, emoji: "")))
    room.knowing(hello, .of(bob, at: 7, deletedAt: 8)).when(forget, by: .service()).thenAlreadyDone(at: 7)
  }
}

@Suite("Legal holds")
struct LegalHoldSpecs {
  private let hold = LegalHold(.user(alice), reason: "case 7")

  private func decide(
    _ holds: LegalHolds, _ command: LegalHolds.Command, by context: CommandContext = .service(),
    earlier: KnownCommand? = nil
  ) throws(Rejection) -> Decision<ServerEvent> {
    try holds.decide(command, context, earlier: earlier) { _ in false }
  }

  @Test("are placed and lifted by services alone, one for each target")
  func life() throws {
    var holds = LegalHolds()
    #expect(try decide(holds, .place(hold)) == .record([.legalHoldPlaced(hold)]))
    #expect(throws: Rejection.serviceOnly) { try decide(holds, .place(hold), by: .user(alice)) }
    holds.place(hold, .at(1))
    #expect(try decide(holds, .place(hold)) == .alreadyDone(.at(1)))
    let other = LegalHold(.user(alice), reason: "cases 7 and 8")
    #expect(try decide(holds, .place(other)) == .recordAgain([.legalHoldPlaced(other)]))
    #expect(throws: Rejection.legalHoldNotFound) { try decide(holds, .lift(.room(RoomID(alice.uuid)))) }
    #expect(try decide(holds, .lift(.user(alice))) == .record([.legalHoldLifted(.on(.user(alice)))]))
    holds.lift(.on(.user(alice)))
    #expect(holds == LegalHolds())
  }

  @Test("on a user and on a room with the same ID are two holds")
  func sameID() throws {
    let room = LegalHold(.room(RoomID(alice.uuid)), reason: "case 8")
    #expect(LegalHolds.Command.place(hold).fingerprint != LegalHolds.Command.place(room).fingerprint)
    #expect(LegalHolds.Command.lift(hold.target).fingerprint != LegalHolds.Command.lift(room.target).fingerprint)
    var holds = LegalHolds()
    holds.place(hold, .at(1))
    #expect(try decide(holds, .place(room)) == .record([.legalHoldPlaced(room)]))
    holds.place(room, .at(2))
    holds.lift(.on(hold.target))
    #expect(Array(holds.entries.keys) == [room.target])
    holds.place(hold, .at(4))
    // A record of an earlier version.
    holds.lift(.onID(alice.uuid))
    #expect(holds == LegalHolds())
  }

  @Test("a late retry does not undo a newer change")
  func retries() throws {
    let lift = LegalHolds.Command.lift(.user(alice))
    var holds = LegalHolds()
    holds.place(hold, .at(5))
    let known = { (command: LegalHolds.Command) in
      KnownCommand(stamp: .at(3), fingerprint: command.fingerprint.scoped(to: .zero))
    }
    #expect(try decide(holds, lift, earlier: known(lift)) == .alreadyDone(.at(3)))
    #expect(try decide(LegalHolds(), .place(hold), earlier: known(.place(hold))) == .alreadyDone(.at(3)))
    #expect(throws: Rejection.idempotencyKeyReused) { try decide(holds, lift, earlier: known(.place(hold))) }
  }
}
