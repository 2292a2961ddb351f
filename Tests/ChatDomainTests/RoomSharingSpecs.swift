import ChatDomain
import ChatPrimitives
import Testing

@Suite("Sharing a room")
struct RoomSharingSpecs {
  private let newcomer: UserID = id(60)
  private var directory: TestDirectory { TestDirectory(registered: [alice, bob, carol, dave, newcomer]) }
  /// The room with an invite at position 6.
  private func shared(_ invite: Invite = .giving(), then later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + [.sharing(.inviteCreated(invite))] + later).with(directory)
  }

  // MARK: Create

  @Test("owners, administrators and services share a room")
  func rights() {
    let state = given(RoomDecider.self, teaRoom)
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      state.when(.sharing(.createInvite(.giving())), by: context).thenRecorded(.sharing(.inviteCreated(.giving())))
    }
    state.when(.sharing(.createInvite(.giving())), by: .user(carol)).thenRejected(.forbidden)
    state.when(.sharing(.createInvite(.giving())), by: .user(stranger)).thenRejected(.roomNotFound)
    state.when(.sharing(.revokeInvite(link)), by: .user(carol)).thenRejected(.forbidden)
  }

  @Test("an invite gives at most its creator's role, and never ownership")
  func roles() {
    let state = given(RoomDecider.self, teaRoom)
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      state.when(.sharing(.createInvite(.giving(.administrator))), by: context).thenAccepted()
      state.when(.sharing(.createInvite(.giving(.owner))), by: context).thenRejected(.inviteRoleNotAllowed)
    }
    var wrong = Invite.giving(.owner)
    wrong.maximumUses = 0
    #expect(wrong.fieldFlaws(at: noon).map(\.rejection) == [.inviteRoleNotAllowed, .inviteUsesOutOfRange])
  }

  @Test(
    "an invite ends after now and within a year, in milliseconds from now",
    arguments: [
      (-1, false), (0, false), (1, true), (Limits.inviteLifetimeMilliseconds - 1, true),
      (Limits.inviteLifetimeMilliseconds, true), (Limits.inviteLifetimeMilliseconds + 1, false),
    ])
  func lifetime(milliseconds: Int64, isAccepted: Bool) {
    let outcome = given(RoomDecider.self, teaRoom)
      .when(.sharing(.createInvite(.giving(until: noon.adding(milliseconds: milliseconds)))), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.inviteExpiryOutOfRange) }
  }

  @Test("an invite never expires only where the operator allows it; it counts as valid until it is revoked")
  func noExpiry() {
    let lasting = RoomCommand.sharing(.createInvite(.giving(until: nil)))
    given(RoomDecider.self, teaRoom).when(lasting, by: .user(alice)).thenRejected(.inviteExpiryRequired)
    var allowing = directory
    allowing.allowsInvitesWithoutExpiry = true
    given(RoomDecider.self, teaRoom).with(allowing).when(lasting, by: .user(alice))
      .thenRecorded(.sharing(.inviteCreated(.giving(until: nil))))
    // A retry succeeds even after the operator has changed the setting.
    shared(.giving(until: nil)).when(lasting, by: .user(alice)).thenAlreadyDone(at: 6)
    shared(.giving(until: nil)).when(.sharing(.createInvite(.giving())), by: .user(alice)).thenRejected(.idInUse)
    shared().when(lasting, by: .user(alice)).thenRejected(.idInUse)
    let late = noon.adding(milliseconds: 100 * Limits.inviteLifetimeMilliseconds)
    shared(.giving(until: nil)).when(.sharing(.acceptInvite(link)), by: .user(newcomer, at: late)).thenAccepted()
    shared(.giving(until: nil), then: [.sharing(.inviteRevoked(link))])
      .when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenRejected(.inviteRevoked)
    let many = (0..<UInt64(Limits.invitesPerRoom)).map {
      RoomEvent.sharing(.inviteCreated(.giving(id: id(1000 + $0), until: nil)))
    }
    given(RoomDecider.self, teaRoom + many).with(allowing).when(lasting, by: .user(alice, at: late))
      .thenRejected(.tooManyInvites)
  }

  @Test("no two invites have the same code; whether it has one is part of an invite")
  func codes() {
    let coded = RoomCommand.sharing(.createInvite(.giving(codeHash: [1])))
    given(RoomDecider.self, teaRoom).when(coded, by: .user(alice)).thenAccepted()
    var taken = directory
    taken.inviteHashes = [[1]]
    given(RoomDecider.self, teaRoom).with(taken).when(coded, by: .user(alice)).thenRejected(.idInUse)
    given(RoomDecider.self, teaRoom).with(taken).when(.sharing(.createInvite(.giving())), by: .user(alice))
      .thenAccepted()
    let shared = given(RoomDecider.self, teaRoom + [.sharing(.inviteCreated(.giving(codeHash: [1])))]).with(taken)
    shared.when(coded, by: .user(alice)).thenAlreadyDone(at: 6)
    shared.when(.sharing(.createInvite(.giving())), by: .user(alice)).thenRejected(.idInUse)
  }

  @Test(
    "how often an invite can be accepted",
    arguments: [
      (nil, true), (0, false), (1, true), (2, true), (99_999, true), (100_000, true), (100_001, false),
      (UInt32.max, false),
    ])
  func uses(maximum: UInt32?, isAccepted: Bool) {
    let outcome = given(RoomDecider.self, teaRoom).when(
      .sharing(.createInvite(.giving(uses: maximum))), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.inviteUsesOutOfRange) }
  }

  @Test("how many valid invites a room has; revoked and expired ones do not count")
  func inviteCount() {
    for (live, isAccepted) in [(999, true), (1000, false), (1001, false)] {
      var events = teaRoom
      for number in 0..<UInt64(live) { events.append(.sharing(.inviteCreated(.giving(id: id(1000 + number))))) }
      events.append(.sharing(.inviteCreated(.giving(id: id(5000)))))
      events.append(.sharing(.inviteRevoked(id(5000))))
      events.append(.sharing(.inviteCreated(.giving(id: id(5001), until: noon))))
      let state = given(RoomDecider.self, events)
      let outcome = state.when(.sharing(.createInvite(.giving())), by: .user(alice))
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyInvites) }
      state.when(.sharing(.createInvite(.giving(id: id(1000)))), by: .user(alice)).thenAlreadyDone(at: 6)
    }
  }

  @Test(
    "how many invites a room ever has, including ended ones",
    arguments: [(9_999, true), (10_000, false), (10_001, false)])
  func inviteCountForEver(made: UInt64, isAccepted: Bool) {
    var events = teaRoom
    for number in 0..<made {
      events += [.sharing(.inviteCreated(.giving(id: id(1000 + number)))), .sharing(.inviteRevoked(id(1000 + number)))]
    }
    let state = given(RoomDecider.self, events)
    let outcome = state.when(.sharing(.createInvite(.giving())), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.invitesExhausted) }
    state.when(.sharing(.createInvite(.giving(id: id(1000)))), by: .user(alice)).thenAlreadyDone(at: 6)
  }

  @Test("the same invite again is the first one, also when it is expired, revoked or the room archived")
  func createsOnce() {
    let retry = RoomCommand.sharing(.createInvite(.giving()))
    for later: [RoomEvent] in [[], [.sharing(.inviteRevoked(link))], [.lifecycle(.archived)]] {
      shared(then: later).when(retry, by: .user(alice)).thenAlreadyDone(at: 6)
      shared(then: later).when(retry, by: .user(alice, at: noon.adding(milliseconds: 90_000))).thenAlreadyDone(at: 6)
      shared(then: later).when(.sharing(.createInvite(.giving(uses: 2))), by: .user(alice)).thenRejected(.idInUse)
      shared(then: later).when(.sharing(.createInvite(.giving(.administrator))), by: .user(alice)).thenRejected(
        .idInUse)
    }
    shared().when(retry, by: .user(carol)).thenRejected(.forbidden)
  }

  // MARK: Revoke

  @Test("an invite is revoked once")
  func revokes() {
    shared().when(.sharing(.revokeInvite(link)), by: .user(bob)).thenRecorded(.sharing(.inviteRevoked(link)))
    shared(then: [.sharing(.inviteRevoked(link))]).when(.sharing(.revokeInvite(link)), by: .user(bob)).thenAlreadyDone(
      at: 7)
    shared().when(.sharing(.revokeInvite(id(31))), by: .user(bob)).thenRejected(.inviteNotFound)
  }

  // MARK: Accept

  @Test("a registered user joins through an invite with its role")
  func accepts() {
    shared(.giving(.administrator)).when(.sharing(.acceptInvite(link)), by: .user(newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .administrator, invite: link)))
    shared().when(.sharing(.acceptInvite(link)), by: .user(stranger)).thenRejected(.userNotFound)
    shared().when(.sharing(.acceptInvite(link)), by: .service()).thenRejected(.forbidden)
    shared().when(.sharing(.acceptInvite(id(31))), by: .user(newcomer)).thenRejected(.inviteNotFound)
    given(RoomDecider.self, []).with(directory).when(.sharing(.acceptInvite(link)), by: .user(newcomer))
      .thenRejected(.inviteNotFound)
  }

  @Test("an invite gives at most its creator's current role, so removed users do not regain theirs through it")
  func capsRole() {
    /// An invite that bob created while he was an administrator.
    func shared(_ role: Role, then later: [RoomEvent]) -> Given<RoomDecider> {
      var room = given(RoomDecider.self, teaRoom)
      RoomDecider.evolve(&room.state, .sharing(.inviteCreated(.giving(role))), .at(6), by: bob)
      for (index, event) in later.enumerated() { RoomDecider.evolve(&room.state, event, .at(UInt64(index) + 7)) }
      return room.with(directory)
    }
    let accept = RoomCommand.sharing(.acceptInvite(link))
    for (later, given): ([RoomEvent], Role) in [
      ([], .administrator), ([.members(.roleChanged(bob, .member))], .member), ([.members(.removed(bob))], .member),
      ([.members(.left(bob))], .member), ([.members(.banned(bob))], .member),
      ([.members(.roleChanged(bob, .owner)), .members(.roleChanged(alice, .administrator))], .administrator),
      ([.members(.roleChanged(bob, .member)), .members(.roleChanged(bob, .administrator))], .administrator),
    ] {
      shared(.administrator, then: later).when(accept, by: .user(newcomer))
        .thenRecorded(.members(.joined(newcomer, role: given, invite: link)))
      shared(.member, then: later).when(accept, by: .user(newcomer))
        .thenRecorded(.members(.joined(newcomer, role: .member, invite: link)))
    }
    shared(.administrator, then: [.members(.removed(bob))]).when(accept, by: .user(bob))
      .thenRecorded(.members(.joined(bob, role: .member, invite: link)))
  }

  @Test("a member who accepts an invite keeps the role, even if the invite has ended")
  func acceptsOnce() {
    shared().when(.sharing(.acceptInvite(link)), by: .user(carol)).thenAlreadyDone(at: 4)
    let joined = RoomEvent.members(.joined(newcomer, role: .member, invite: link))
    for later: [RoomEvent] in [[joined], [joined, .sharing(.inviteRevoked(link))], [joined, .lifecycle(.archived)]] {
      shared(.giving(uses: 1), then: later).when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenAlreadyDone(
        at: 7)
    }
  }

  @Test("an invite that has ended admits nobody, and the rejection says why")
  func refuses() {
    let accept = RoomCommand.sharing(.acceptInvite(link))
    shared(then: [.sharing(.inviteRevoked(link))]).when(accept, by: .user(newcomer)).thenRejected(.inviteRevoked)
    for (offset, rejection) in [(59_999, nil), (60_000, .inviteExpired), (60_001, .inviteExpired)]
      as [(Int64, Rejection?)]
    {
      let outcome = shared().when(accept, by: .user(newcomer, at: noon.adding(milliseconds: offset)))
      if let rejection { outcome.thenRejected(rejection) } else { outcome.thenAccepted() }
    }
    // An error of the invite takes precedence over an error of the room.
    shared(then: [.lifecycle(.archived), .sharing(.inviteRevoked(link))]).when(accept, by: .user(newcomer))
      .thenRejected(.inviteRevoked)
  }

  @Test("every join uses up an invite, even if the user has left again", arguments: [1, 2, 3] as [UInt32])
  func usedUp(maximum: UInt32) {
    let joins = [61, 62].flatMap { number -> [RoomEvent] in
      [.members(.joined(id(number), role: .member, invite: link)), .members(.left(id(number)))]
    }
    let outcome = shared(.giving(uses: maximum), then: joins).when(.sharing(.acceptInvite(link)), by: .user(newcomer))
    if maximum > 2 { outcome.thenAccepted() } else { outcome.thenRejected(.inviteUsedUp) }
  }
}
