import ChatDomain
import ChatPrimitives
import Testing

@Suite("Every retry in a workspace is safe for ever")
struct WorkspaceRetrySpecs {
  private static let newcomer = retryingNewcomer
  private static let bobAct = Act.user(bob, key: .retried)

  /// Position 6 is a link.
  private static let facts: [WorkspaceEvent] = officeFacts + [.inviteCreated(.into(uses: 1))]

  private static func byBob(_ command: WorkspaceCommand, then later: [WorkspaceEvent]) -> Retry<WorkspaceDecider> {
    Retry(
      first: command, again: command, act: bobAct, later: later, loss: [.memberRemoved(bob)],
      refusal: .workspaceNotFound)
  }

  private static func by(
    _ user: UserID, _ command: WorkspaceCommand, then later: [WorkspaceEvent]
  ) -> Retry<WorkspaceDecider> {
    Retry(first: command, again: command, act: .user(user, key: .retried), later: later)
  }

  static let retries: [Retry<WorkspaceDecider>] = [
    byBob(.edit(WorkspaceEdit(name: "home")), then: [.edited(WorkspaceEdit(name: "hall"))]),
    byBob(.createInvite(.into(id: id(31))), then: [.inviteRevoked(id(31))]),
    byBob(.revokeInvite(link), then: []),
    byBob(.invite(newcomer, .member), then: [.invitationWithdrawn(newcomer)]),
    byBob(
      .invite(newcomer, .member),
      then: [.memberJoined(newcomer, role: .member, by: .invitation), .memberLeft(newcomer)]),
    byBob(.invite(carol, .member), then: [.memberLeft(carol)]),
    byBob(.removeMember(carol), then: [.memberJoined(carol, role: .administrator, by: .service)]),
    byBob(.changeRole(carol, .guest), then: [.roleChanged(carol, .member), .memberLeft(carol)]),
    // Who lowered oneself has no right to it any more.
    byBob(.changeRole(bob, .member), then: []),
    byBob(.changeRole(bob, .guest), then: [.roleChanged(bob, .administrator)]),
    by(alice, .delete, then: []),
    by(alice, .transfer(to: bob), then: [.roleChanged(alice, .owner), .roleChanged(bob, .member)]),
    by(carol, .leave, then: [.memberJoined(carol, role: .member, by: .service)]),
    by(newcomer, .acceptInvite(link), then: [.memberLeft(newcomer), .inviteRevoked(link)]),
    by(carol, .acceptInvite(link), then: [.memberLeft(carol)]),
    by(carol, .acceptInvitation, then: [.memberLeft(carol), .memberInvited(carol, role: .member)]),
    Retry(
      first: .join, again: .join, act: .service(for: newcomer, key: .retried), later: [.memberLeft(newcomer)]),
    Retry(first: .join, again: .join, act: .service(for: carol, key: .retried), later: [.memberLeft(carol)]),
  ]

  @Test("by whoever does it", arguments: retries)
  func retry(retry: Retry<WorkspaceDecider>) throws { try checkRetry(retry, after: Self.facts) }

  @Test("of an answer to an invitation")
  func answers() throws {
    let invited = Self.facts + [.memberInvited(Self.newcomer, role: .member)]
    try checkRetry(
      Self.by(Self.newcomer, .withdrawInvitation(Self.newcomer), then: [.memberInvited(Self.newcomer, role: .guest)]),
      after: invited)
    try checkRetry(
      Self.byBob(.withdrawInvitation(Self.newcomer), then: [.memberInvited(Self.newcomer, role: .guest)]),
      after: invited)
    try checkRetry(
      Self.by(
        Self.newcomer, .acceptInvitation,
        then: [.memberLeft(Self.newcomer), .memberInvited(Self.newcomer, role: .guest)]),
      after: invited)
    try checkRetry(
      Self.byBob(.invite(Self.newcomer, .member), then: [.invitationWithdrawn(Self.newcomer)]), after: invited)
  }

  @Test("a workspace is created once, whoever is in it by then")
  func creation() throws {
    let command = WorkspaceCommand.create(WorkspaceCreation(name: "office", creator: alice))
    try checkRetry(
      Retry<WorkspaceDecider>(
        first: command, again: command, act: .user(alice),
        later: [.edited(WorkspaceEdit(name: "home")), .memberJoined(bob, role: .owner, by: .service)]), after: [])
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
