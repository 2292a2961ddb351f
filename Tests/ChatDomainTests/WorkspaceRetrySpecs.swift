import ChatDomain
import ChatPrimitives
import Testing

@Suite("Every retry in a workspace is safe for ever")
struct WorkspaceRetrySpecs {
  private static let newcomer = retryingNewcomer
  private static let bobContext = CommandContext.user(bob, key: .retried)

  /// Position 6 is a link.
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
    byBob(.edit(WorkspaceEdit(name: "home")), then: [.lifecycle(.edited(WorkspaceEdit(name: "hall")))]),
    byBob(.createInvite(.into(id: id(31))), then: [.sharing(.inviteRevoked(id(31)))]),
    byBob(.revokeInvite(link), then: []),
    byBob(.invite(newcomer, .member), then: [.invitations(.withdrawn(newcomer))]),
    byBob(
      .invite(newcomer, .member),
      then: [.members(.joined(newcomer, role: .member, by: .invitation)), .members(.left(newcomer))]),
    byBob(.invite(carol, .member), then: [.members(.left(carol))]),
    byBob(.removeMember(carol), then: [.members(.joined(carol, role: .administrator, by: .service))]),
    byBob(.changeRole(carol, .guest), then: [.members(.roleChanged(carol, .member)), .members(.left(carol))]),
    // Who lowered oneself has no right to it any more.
    byBob(.changeRole(bob, .member), then: []),
    byBob(.changeRole(bob, .guest), then: [.members(.roleChanged(bob, .administrator))]),
    by(alice, .delete, then: []),
    by(alice, .transfer(to: bob), then: [.members(.roleChanged(alice, .owner)), .members(.roleChanged(bob, .member))]),
    by(carol, .leave, then: [.members(.joined(carol, role: .member, by: .service))]),
    by(newcomer, .acceptInvite(link), then: [.members(.left(newcomer)), .sharing(.inviteRevoked(link))]),
    by(carol, .acceptInvite(link), then: [.members(.left(carol))]),
    by(carol, .acceptInvitation, then: [.members(.left(carol)), .invitations(.invited(carol, role: .member))]),
    Retry(
      first: .join, again: .join, context: .service(for: newcomer, key: .retried), later: [.members(.left(newcomer))]),
    Retry(first: .join, again: .join, context: .service(for: carol, key: .retried), later: [.members(.left(carol))]),
  ]

  @Test("by whoever does it", arguments: retries)
  func retry(retry: Retry<WorkspaceDecider>) throws { try checkRetry(retry, after: Self.events) }

  @Test("of an answer to an invitation")
  func answers() throws {
    let invited = Self.events + [.invitations(.invited(Self.newcomer, role: .member))]
    try checkRetry(
      Self.by(
        Self.newcomer, .withdrawInvitation(Self.newcomer), then: [.invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.byBob(.withdrawInvitation(Self.newcomer), then: [.invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.by(
        Self.newcomer, .acceptInvitation,
        then: [.members(.left(Self.newcomer)), .invitations(.invited(Self.newcomer, role: .guest))]),
      after: invited)
    try checkRetry(
      Self.byBob(.invite(Self.newcomer, .member), then: [.invitations(.withdrawn(Self.newcomer))]), after: invited)
  }

  @Test("a workspace is created once, whoever is in it by then")
  func creation() throws {
    let command = WorkspaceCommand.create(WorkspaceCreation(name: "office", creator: alice))
    try checkRetry(
      Retry<WorkspaceDecider>(
        first: command, again: command, context: .user(alice),
        later: [.lifecycle(.edited(WorkspaceEdit(name: "home"))), .members(.joined(bob, role: .owner, by: .service))]),
      after: [])
  }

  @Test("every two commands are told apart")
  func fingerprints() {
    let commands: [WorkspaceCommand] = [
      .create(WorkspaceCreation(name: "office", creator: alice)),
      .create(WorkspaceCreation(name: "home", creator: alice)), .edit(WorkspaceEdit(name: "office")),
      .edit(WorkspaceEdit(topic: "office")), .edit(WorkspaceEdit(picture: .remove)),
      .edit(WorkspaceEdit(picture: .set(id(1)))), .delete, .createInvite(.into()), .createInvite(.into(.guest)),
      .revokeInvite(link), .acceptInvite(link), .acceptInvite(id(31)), .invite(carol, .member), .invite(carol, .guest),
      .invite(dave, .member), .withdrawInvitation(carol), .withdrawInvitation(dave), .acceptInvitation, .join, .leave,
      .removeMember(carol), .removeMember(dave), .changeRole(carol, .member), .changeRole(carol, .guest),
      .changeRole(dave, .member), .transfer(to: carol), .transfer(to: dave),
    ]
    #expect(Set(commands.map(\.fingerprint)).count == commands.count)
  }
}
