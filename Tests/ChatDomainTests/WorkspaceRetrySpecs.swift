import ChatDomain
import ChatPrimitives
import Testing

@Suite("Every retry in a workspace is always safe")
struct WorkspaceRetrySpecs {
  private static let newcomer = retryingNewcomer
  private static let bobContext = CommandContext.user(bob, key: .retried)

  /// Position 6 is an invite link.
  private static let events: [WorkspaceEvent] = officeEvents + [.sharing(.inviteCreated(.into(uses: 1)))]

  private static func byBob(_ command: WorkspaceCommand, then later: [WorkspaceEvent]) -> Retry<WorkspaceDecider> {
    Retry(
      first: command, again: command, context: bobContext, later: later, loss: [.members(.removed(bob))],
      refusal: .workspaceNotFound)
  }

  private static func by(
    _ user: UserID, _ command: WorkspaceCommand, then later: [WorkspaceEvent]
  ) -> Retry<WorkspaceDecider> {
    Retry(first: command, again: command, context: .user(user, key: .retried), later: later)
  }

  static let retries: [Retry<WorkspaceDecider>] = [
    byBob(.lifecycle(.edit(WorkspaceEdit(name: "home"))), then: [.lifecycle(.edited(WorkspaceEdit(name: "hall")))]),
    byBob(.sharing(.createInvite(.into(id: id(31)))), then: [.sharing(.inviteRevoked(id(31)))]),
    byBob(.sharing(.revokeInvite(link)), then: []),
    byBob(.invitations(.invite(newcomer, .member)), then: [.invitations(.withdrawn(newcomer))]),
    byBob(
      .invitations(.invite(newcomer, .member)),
      then: [.members(.joined(newcomer, role: .member, by: .invitation)), .members(.left(newcomer))]),
    byBob(.invitations(.invite(carol, .member)), then: [.members(.left(carol))]),
    byBob(.members(.remove(carol)), then: [.members(.joined(carol, role: .administrator, by: .service))]),
    byBob(
      .members(.changeRole(carol, .guest)), then: [.members(.roleChanged(carol, .member)), .members(.left(carol))]),
    // A member who has lowered their own role no longer has the right to change it.
    byBob(.members(.changeRole(bob, .member)), then: []),
    byBob(.members(.changeRole(bob, .guest)), then: [.members(.roleChanged(bob, .administrator))]),
    by(alice, .lifecycle(.delete), then: []),
    by(
      alice, .members(.transfer(to: bob)),
      then: [.members(.roleChanged(alice, .owner)), .members(.roleChanged(bob, .member))]),
    by(carol, .members(.leave), then: [.members(.joined(carol, role: .member, by: .service))]),
    by(newcomer, .sharing(.acceptInvite(link)), then: [.members(.left(newcomer)), .sharing(.inviteRevoked(link))]),
    by(carol, .sharing(.acceptInvite(link)), then: [.members(.left(carol))]),
    by(carol, .invitations(.accept), then: [.members(.left(carol)), .invitations(.invited(carol, role: .member))]),
    Retry(
      first: .members(.join), again: .members(.join), context: .service(for: newcomer, key: .retried),
      later: [.members(.left(newcomer))]),
    Retry(
      first: .members(.join), again: .members(.join), context: .service(for: carol, key: .retried),
      later: [.members(.left(carol))]),
  ]

  @Test("by a user, or by a service for a user", arguments: retries)
  func retry(retry: Retry<WorkspaceDecider>) throws { try checkRetry(retry, after: Self.events) }

  @Test("of an answer to an invitation")
  func invitationReplies() throws {
    let invited = Self.events + [.invitations(.invited(Self.newcomer, role: .member))]
    try checkRetry(
      Self.by(
        Self.newcomer, .invitations(.withdraw(Self.newcomer)),
        then: [.invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.byBob(.invitations(.withdraw(Self.newcomer)), then: [.invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.by(
        Self.newcomer, .invitations(.accept),
        then: [.members(.left(Self.newcomer)), .invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.byBob(.invitations(.invite(Self.newcomer, .member)), then: [.invitations(.withdrawn(Self.newcomer))]),
      after: invited)
  }

  @Test("a repeated creation returns the first workspace, even if it has changed since")
  func creation() throws {
    let command = WorkspaceCommand.lifecycle(.create(WorkspaceCreation(name: "office", creator: alice)))
    try checkRetry(
      Retry<WorkspaceDecider>(
        first: command, again: command, context: .user(alice),
        later: [.lifecycle(.edited(WorkspaceEdit(name: "home"))), .members(.joined(bob, role: .owner, by: .service))]),
      after: [])
  }

  @Test("the end of the workspace is looked up for its creation and deletion, and the key unless an ID is enough")
  func lookups() throws {
    let ofKey = try #require(CommandKey(of: Self.bobContext))
    let cases: [(WorkspaceCommand, EndingKey?, CommandKey?)] = [
      (.lifecycle(.create(WorkspaceCreation(name: "office", creator: bob))), .workspace(office), nil),
      (.lifecycle(.delete), .workspace(office), ofKey), (.lifecycle(.edit(WorkspaceEdit(name: "home"))), nil, ofKey),
      (.sharing(.createInvite(.into())), nil, nil), (.sharing(.acceptInvite(link)), nil, ofKey),
      (.members(.leave), nil, ofKey), (.invitations(.accept), nil, ofKey),
    ]
    for (command, ending, key) in cases {
      var lookup = Lookup()
      (lookup.ending, lookup.command) = (ending, key)
      #expect(command.lookup(on: office, by: Self.bobContext) == lookup)
    }
  }

  @Test("every two commands are told apart")
  func fingerprints() {
    let commands: [WorkspaceCommand] = [
      .lifecycle(.create(WorkspaceCreation(name: "office", creator: alice))),
      .lifecycle(.create(WorkspaceCreation(name: "home", creator: alice))),
      .lifecycle(.edit(WorkspaceEdit(name: "office"))),
      .lifecycle(.edit(WorkspaceEdit(topic: "office"))), .lifecycle(.edit(WorkspaceEdit(picture: .remove))),
      .lifecycle(.edit(WorkspaceEdit(picture: .set(id(1))))), .lifecycle(.delete), .sharing(.createInvite(.into())),
      .sharing(.createInvite(.into(.guest))),
      .sharing(.revokeInvite(link)), .sharing(.acceptInvite(link)), .sharing(.acceptInvite(id(31))),
      .invitations(.invite(carol, .member)), .invitations(.invite(carol, .guest)),
      .invitations(.invite(dave, .member)), .invitations(.withdraw(carol)), .invitations(.withdraw(dave)),
      .invitations(.accept), .members(.join), .members(.leave),
      .members(.remove(carol)), .members(.remove(dave)), .members(.changeRole(carol, .member)),
      .members(.changeRole(carol, .guest)),
      .members(.changeRole(dave, .member)), .members(.transfer(to: carol)), .members(.transfer(to: dave)),
    ]
    #expect(Set(commands.map { $0.fingerprint(by: alice) }).count == commands.count)
  }
}
