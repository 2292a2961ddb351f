import ChatDomain
import ChatPrimitives
import Testing

/// One sample of each command, under a key and recorded the first time. `RetrySpecs` and `WorkspaceRetrySpecs` cover
/// what happens between a command and its retry.
@Suite("Every command under a key")
struct KeyedCommandSpecs {
  struct Sample<D: Decider>: Sendable, CustomTestStringConvertible where D.Event: Traceable {
    let given: Given<D>
    let command: D.Command
    let context: CommandContext

    var testDescription: String { "\(command)" }
  }

  @Test("of a room", arguments: rooms)
  func room(sample: Sample<RoomDecider>) throws { try check(sample) }

  @Test("of a user", arguments: users)
  func user(sample: Sample<UserDecider>) throws { try check(sample) }

  @Test("of a workspace", arguments: workspaces)
  func workspace(sample: Sample<WorkspaceDecider>) throws { try check(sample) }

  @Test("has a sample here")
  func isComplete() {
    func check<Kind: Hashable & CaseIterable>(_ kinds: [Kind]) {
      for kind in Kind.allCases { #expect(kinds.contains(kind), "no sample of \(kind)") }
    }
    check(Self.rooms.map(\.command.kind))
    check(Self.users.map(\.command.kind))
    check(Self.workspaces.map(\.command.kind))
  }

  /// A retry gets the first response, and any other command under the key is rejected. A command that is known by
  /// itself does not look at the key.
  private func check<D: Decider>(_ sample: Sample<D>) throws {
    let (command, context) = (sample.command, sample.context)
    let key = try #require(CommandKey(of: context))
    let stream: ID<D.Entity> = subject()
    let fingerprint = command.fingerprint(by: context.actor)
    func after(_ earlier: Fingerprint?) -> Outcome<D> {
      var given = sample.given
      given.known.commands[key] = KnownCommand(stamp: .at(500), fingerprint: earlier)
      return given.when(command, by: context)
    }
    sample.given.when(command, by: context).thenAccepted()
    let others: [Fingerprint?] = [
      Fingerprint(.text("another command")).scoped(to: stream.uuid), fingerprint.scoped(to: UUIDBytes(high: 5, low: 5)),
      fingerprint, nil,
    ]
    let lookup = command.lookup(on: stream, by: context)
    if command.isKnownByItself {
      #expect(lookup.command == nil)
      for earlier in others + [fingerprint.scoped(to: stream.uuid)] { after(earlier).thenAccepted() }
    } else {
      #expect(lookup.command == key)
      after(fingerprint.scoped(to: stream.uuid)).thenAlreadyDone(at: 500)
      for earlier in others { after(earlier).thenRejected(.idempotencyKeyReused) }
    }
  }

  // MARK: Rooms

  private static let newcomer = retryingNewcomer
  private static let byAlice = CommandContext.user(alice, key: .retried)
  private static let byBob = CommandContext.user(bob, key: .retried)
  private static let byNewcomer = CommandContext.user(newcomer, key: .retried)
  private static let byService = CommandContext.service(key: .retried)
  private static let due = noon.adding(milliseconds: 60_000)

  /// Position 6 is an invite, 7 a message from bob, 8 one from dave, 9 one that bob has scheduled, and 10 a report.
  private static let room: [RoomEvent] =
    teaRoom + [
      .sharing(.inviteCreated(.giving())), .messages(.sent(hello, author: bob, thread: nil, .plain("hello"))),
      .messages(.sent(id(41), author: dave, thread: nil, .plain("hello"))),
      .scheduling(.scheduled(id(46), .saying(by: bob))), .reported(),
    ]

  private static func sample(
    _ command: RoomCommand, by context: CommandContext = byBob, after events: [RoomEvent] = room
  ) -> Sample<RoomDecider> {
    let given = given(RoomDecider.self, events)
      .with(TestDirectory(registered: [alice, bob, carol, dave, newcomer]))
      .knowing(hello, .of(bob, at: 7)).knowing(id(41), .of(dave, ordinal: 2, at: 8))
      .knowing(id(44), .of(dave, in: MessageLocation(thread: 1, ordinal: 1)))
      .knowing(id(43), .of(ghost, ordinal: 3, at: 8))
      .knowing(
        reactions: ReactionCounts(kinds: 1, users: 1, ownKinds: 1, isOwn: true), emoji: "👍", of: ghost, on: id(41)
      )
      .knowing(complaint, .of(at: 10)).knowingContent(id(41), .plain("hello"))
    return Sample(given: given, command: command, context: context)
  }

  static let rooms: [Sample<RoomDecider>] = [
    sample(.lifecycle(.create(.named())), by: byAlice, after: []),
    sample(.lifecycle(.edit(RoomEdit(name: "coffee")))), sample(.lifecycle(.edit(RoomEdit(custom: "{}")))),
    sample(.lifecycle(.archive)),
    sample(.lifecycle(.restore), after: room + [.lifecycle(.archived)]), sample(.lifecycle(.delete), by: byAlice),
    sample(.sharing(.createInvite(.giving(id: id(31))))), sample(.sharing(.revokeInvite(link))),
    sample(.sharing(.acceptInvite(link)), by: byNewcomer),
    sample(.members(.join), by: .service(for: newcomer, key: .retried)), sample(.members(.add(newcomer))),
    sample(.members(.remove(dave))), sample(.members(.leave)), sample(.members(.changeRole(dave, .administrator))),
    sample(.members(.transfer(to: bob)), by: byAlice), sample(.members(.ban(dave))),
    sample(.members(.unban(newcomer)), after: room + [.members(.banned(newcomer))]),
    sample(.members(.silence(dave, until: noon))), sample(.members(.mute(until: noon))),
    sample(.members(.setNotifications(.mentions))),
    sample(
      .members(.setHidden(true)),
      after: [.lifecycle(.created(.direct(alice, bob)))]
        + [alice, bob].map { RoomEvent.members(.added($0, role: .member)) }),
    sample(.send(id: id(42))), sample(.messages(.edit(hello, .plain("hi")))), sample(.messages(.delete(id(41)))),
    sample(.annotations(.react(id(41), "👍"))), sample(.annotations(.unreact(id(41), "👍"))),
    sample(.annotations(.pin(id(41)))), sample(.annotations(.unpin(id(41)))),
    sample(.reading(.moveMarker(to: id(41)))), sample(.reading(.markUnread(from: id(41)))),
    sample(.threads(.moveMarker(to: id(44), in: hello))), sample(.threads(.setFollowing(hello, true))),
    sample(.schedule(id: id(47))), sample(.reschedule(id(46), text: "hi")), sample(.scheduling(.cancel(id(46)))),
    sample(
      .scheduling(.send(id(46), .saying(by: bob), revision: LogPosition(9))),
      by: .service(for: bob, key: .retried, at: due)),
    sample(.report(id(41), id: id(91))), sample(.resolve()), sample(.reopen()),
    sample(.erasing(.message(id(43), of: ghost, after: .origin)), by: byService),
    sample(.erasing(.reactions(id(41), emoji: "👍", of: ghost)), by: byService),
  ]

  // MARK: Users

  private static let token = PushToken(provider: .apns, token: "a1b2")
  private static let atLogin = CommandContext.user(alice, session: login, key: .retried)
  private static let user: [UserEvent] =
    aliceAtHome + [
      .sessions(.started(otherLogin, device: nil)), .devices(.updated(phone, .named(tokens: [token]))),
      .logins(.identityLinked(.of("b"))),
    ]

  private static func sample(
    _ command: UserCommand, by context: CommandContext = atLogin, after events: [UserEvent] = user
  ) -> Sample<UserDecider> {
    Sample(given: given(UserDecider.self, events), command: command, context: context)
  }

  static let users: [Sample<UserDecider>] = [
    sample(.account(.register(.named())), by: byService, after: []),
    sample(.account(.registerIdentified(.named(email: nil, credential: nil), .of("a"))), by: byService, after: []),
    sample(.account(.changeProfile(ProfileEdit(nickname: "Al")))),
    sample(.account(.changeProfile(ProfileEdit(custom: "{}")))),
    sample(.account(.setPreferences(PreferencesEdit(sharesReadMarkers: false)))),
    sample(.account(.setEmail("al@example.org", checked: 1))), sample(.account(.disable), by: byService),
    sample(.account(.enable), by: byService, after: user + [.account(.disabled)]),
    sample(.logins(.changePassword(.version(2), checked: 1))),
    sample(.logins(.resetPassword(.version(2), issuedFor: 1)), by: byAlice),
    sample(.logins(.link(.of("a"), proof: .password(version: 1)))), sample(.logins(.unlink(.of("b")))),
    sample(.sessions(.start(id(22), device: phone, proof: .password(version: 1))), by: byAlice),
    sample(.sessions(.refresh(login, presented: 1, oldest: nil))), sample(.sessions(.end(otherLogin, .loggedOut))),
    sample(.sessions(.endMany(.others))), sample(.devices(.set(tablet, .named("tablet")))),
    sample(.devices(.invalidateToken(phone, token)), by: byService), sample(.devices(.remove(phone))),
    sample(.media(.upload(id(600), Media(hash: [1], contentType: "image/png", size: 3), name: nil))),
    sample(.deletion(.deleteAccount(proof: .password(version: 1)))),
    sample(.deletion(.completeErasure(.ofAlice)), by: byService, after: user + [.deletion(.deleted)]),
    sample(.blocks(.block(bob))), sample(.blocks(.unblock(bob)), after: user + [.blocks(.blocked(bob))]),
  ]

  // MARK: Workspaces

  /// Position 6 is an invite link.
  private static let workspace: [WorkspaceEvent] = officeEvents + [.sharing(.inviteCreated(.into()))]
  private static let inviting = workspace + [.invitations(.invited(newcomer, role: .member))]

  private static func sample(
    _ command: WorkspaceCommand, by context: CommandContext = byBob, after events: [WorkspaceEvent] = workspace
  ) -> Sample<WorkspaceDecider> {
    Sample(
      given: given(WorkspaceDecider.self, events).with(.ofOffice(and: newcomer)), command: command, context: context)
  }

  static let workspaces: [Sample<WorkspaceDecider>] = [
    sample(.lifecycle(.create(WorkspaceCreation(name: "office", creator: alice))), by: byAlice, after: []),
    sample(.lifecycle(.edit(WorkspaceEdit(name: "home")))), sample(.lifecycle(.delete), by: byAlice),
    sample(.sharing(.createInvite(.into(id: id(31))))), sample(.sharing(.revokeInvite(link))),
    sample(.sharing(.acceptInvite(link)), by: byNewcomer), sample(.invitations(.invite(newcomer, .member))),
    sample(.invitations(.withdraw(newcomer)), after: inviting),
    sample(.invitations(.accept), by: byNewcomer, after: inviting),
    sample(.members(.join), by: .service(for: newcomer, key: .retried)), sample(.members(.leave)),
    sample(.members(.remove(carol))), sample(.members(.changeRole(carol, .guest))),
    sample(.members(.transfer(to: bob)), by: byAlice),
  ]
}

// MARK: - All commands

/// A new command needs a kind here, or the switch does not compile. It then needs a sample above, or `isComplete`
/// fails.
extension RoomCommand {
  fileprivate enum Kind: CaseIterable {
    case create, edit, archive, restore, delete
    case createInvite, revokeInvite, acceptInvite
    case join, addMember, removeMember, leave, changeRole, transfer, ban, unban, silence, mute, setNotifications
    case setHidden
    case sendMessage, editMessage, deleteMessage
    case react, unreact, pin, unpin
    case moveMarker, markUnread, moveThreadMarker, setFollowing
    case schedule, changeScheduled, cancelScheduled, sendScheduled
    case fileReport, resolveReport, reopenReport
    case eraseMessage, eraseReactions
  }

  fileprivate var kind: Kind {
    switch self {
    case .lifecycle(.create): .create
    case .lifecycle(.edit): .edit
    case .lifecycle(.archive): .archive
    case .lifecycle(.restore): .restore
    case .lifecycle(.delete): .delete
    case .sharing(.createInvite): .createInvite
    case .sharing(.revokeInvite): .revokeInvite
    case .sharing(.acceptInvite): .acceptInvite
    case .members(.join): .join
    case .members(.add): .addMember
    case .members(.remove): .removeMember
    case .members(.leave): .leave
    case .members(.changeRole): .changeRole
    case .members(.transfer): .transfer
    case .members(.ban): .ban
    case .members(.unban): .unban
    case .members(.silence): .silence
    case .members(.mute): .mute
    case .members(.setNotifications): .setNotifications
    case .members(.setHidden): .setHidden
    case .messages(.send): .sendMessage
    case .messages(.edit): .editMessage
    case .messages(.delete): .deleteMessage
    case .annotations(.react): .react
    case .annotations(.unreact): .unreact
    case .annotations(.pin): .pin
    case .annotations(.unpin): .unpin
    case .reading(.moveMarker): .moveMarker
    case .reading(.markUnread): .markUnread
    case .threads(.moveMarker): .moveThreadMarker
    case .threads(.setFollowing): .setFollowing
    case .scheduling(.schedule): .schedule
    case .scheduling(.change): .changeScheduled
    case .scheduling(.cancel): .cancelScheduled
    case .scheduling(.send): .sendScheduled
    case .reports(.file): .fileReport
    case .reports(.resolve): .resolveReport
    case .reports(.reopen): .reopenReport
    case .erasing(.message): .eraseMessage
    case .erasing(.reactions): .eraseReactions
    }
  }
}

extension UserCommand {
  fileprivate enum Kind: CaseIterable {
    case register, registerIdentified, changeProfile, setPreferences, setEmail, disable, enable
    case changePassword, resetPassword, link, unlink
    case startSession, refreshSession, endSession, endSessions
    case setDevice, invalidateToken, removeDevice
    case upload
    case block, unblock
    case deleteAccount, completeErasure
  }

  fileprivate var kind: Kind {
    switch self {
    case .account(.register): .register
    case .account(.registerIdentified): .registerIdentified
    case .account(.changeProfile): .changeProfile
    case .account(.setPreferences): .setPreferences
    case .account(.setEmail): .setEmail
    case .account(.disable): .disable
    case .account(.enable): .enable
    case .logins(.changePassword): .changePassword
    case .logins(.resetPassword): .resetPassword
    case .logins(.link): .link
    case .logins(.unlink): .unlink
    case .sessions(.start): .startSession
    case .sessions(.refresh): .refreshSession
    case .sessions(.end): .endSession
    case .sessions(.endMany): .endSessions
    case .devices(.set): .setDevice
    case .devices(.invalidateToken): .invalidateToken
    case .devices(.remove): .removeDevice
    case .media(.upload): .upload
    case .blocks(.block): .block
    case .blocks(.unblock): .unblock
    case .deletion(.deleteAccount): .deleteAccount
    case .deletion(.completeErasure): .completeErasure
    }
  }
}

extension WorkspaceCommand {
  fileprivate enum Kind: CaseIterable {
    case create, edit, delete
    case createInvite, revokeInvite, acceptInvite
    case invite, withdrawInvitation, acceptInvitation
    case join, leave, remove, changeRole, transfer
  }

  fileprivate var kind: Kind {
    switch self {
    case .lifecycle(.create): .create
    case .lifecycle(.edit): .edit
    case .lifecycle(.delete): .delete
    case .sharing(.createInvite): .createInvite
    case .sharing(.revokeInvite): .revokeInvite
    case .sharing(.acceptInvite): .acceptInvite
    case .invitations(.invite): .invite
    case .invitations(.withdraw): .withdrawInvitation
    case .invitations(.accept): .acceptInvitation
    case .members(.join): .join
    case .members(.leave): .leave
    case .members(.remove): .remove
    case .members(.changeRole): .changeRole
    case .members(.transfer): .transfer
    }
  }
}
