import ChatDomain
import ChatPrimitives
import Testing

/// Who may create a direct room with a user, and who may add the user to a group.
@Suite("Contact rules")
struct ContactRuleSpecs {
  private static let office: WorkspaceID = id(90)
  /// Without dave.
  private static let room = Array(teaRoom.dropLast())

  /// Dave has the rule; alice and dave share a room if `isKnown`.
  private func directory(_ rule: ContactRule, isKnown: Bool = false) -> TestDirectory {
    TestDirectory(
      contacts: [dave: ContactRules(directRooms: rule, groupAdditions: rule)],
      acquaintances: isKnown ? [alice: [dave], dave: [alice]] : [:],
      workspaces: [Self.office: [alice: .owner, dave: .member]])
  }

  private func group(_ users: UserID..., by creator: UserID? = alice, in workspace: WorkspaceID? = nil) -> RoomCommand {
    .lifecycle(
      .create(
        RoomCreation(
          kind: workspace == nil ? .group : .channel, name: "tea", creator: creator, workspace: workspace,
          participants: users.sorted())))
  }

  @Test(
    "a rule accepts everyone, known users, or nobody",
    arguments: [
      (ContactRule.everyone, false, true), (.everyone, true, true), (.known, false, false), (.known, true, true),
      (.nobody, false, false), (.nobody, true, false),
    ])
  func rules(rule: ContactRule, isKnown: Bool, isAccepted: Bool) {
    let known = directory(rule, isKnown: isKnown)
    for context in [CommandContext.user(alice), .service(for: alice)] {
      let direct = given(RoomDecider.self, []).with(known)
        .when(.lifecycle(.create(.direct(alice, dave))), by: context)
      let created = given(RoomDecider.self, []).with(known).when(group(bob, dave), by: context)
      let added = given(RoomDecider.self, Self.room).with(known).when(.members(.add(dave)), by: context)
      if isAccepted {
        for outcome in [direct, created, added] { outcome.thenAccepted() }
      } else {
        direct.thenRejected(.directMessagesRefused)
        for outcome in [created, added] { outcome.thenRejected(.additionRefused) }
      }
    }
  }

  @Test("the rules do not depend on each other")
  func separate() {
    let noDirectRooms = TestDirectory(contacts: [dave: ContactRules(directRooms: .nobody)])
    given(RoomDecider.self, Self.room).with(noDirectRooms).when(.members(.add(dave)), by: .user(alice)).thenAccepted()
    let noGroups = TestDirectory(contacts: [dave: ContactRules(groupAdditions: .nobody)])
    given(RoomDecider.self, []).with(noGroups).when(.lifecycle(.create(.direct(alice, dave))), by: .user(alice))
      .thenAccepted()
  }

  @Test("the rule of the user who adds does not matter, nor do those of two others in a direct room")
  func others() {
    let strict = TestDirectory(contacts: [alice: ContactRules(directRooms: .nobody, groupAdditions: .nobody)])
    given(RoomDecider.self, []).with(strict).when(.lifecycle(.create(.direct(alice, dave))), by: .user(alice))
      .thenAccepted()
    given(RoomDecider.self, Self.room).with(strict).when(.members(.add(dave)), by: .user(alice)).thenAccepted()
    given(RoomDecider.self, []).with(directory(.known, isKnown: true))
      .when(.lifecycle(.create(.direct(alice, bob, dave))), by: .user(alice)).thenAccepted()
  }

  @Test("a service that acts for itself, and channels of a workspace, are not refused")
  func exceptions() {
    let nobody = directory(.nobody)
    given(RoomDecider.self, []).with(nobody).when(group(dave, by: nil), by: .service()).thenAccepted()
    given(RoomDecider.self, Self.room).with(nobody).when(.members(.add(dave)), by: .service()).thenAccepted()
    given(RoomDecider.self, Self.room).with(nobody).when(.members(.join), by: .service(for: dave)).thenAccepted()
    given(RoomDecider.self, []).with(nobody).when(group(dave, in: Self.office), by: .user(alice)).thenAccepted()
  }

  @Test("the right to add comes first, and a repeat is recognised")
  func order() {
    let nobody = directory(.nobody)
    given(RoomDecider.self, Self.room).with(nobody).when(.members(.add(dave)), by: .user(carol))
      .thenRejected(.forbidden)
    given(RoomDecider.self, Self.room).with(nobody).when(.members(.add(ghost)), by: .user(alice))
      .thenRejected(.userNotFound)
    let added = Self.room + [RoomEvent.members(.added(dave, role: .member))]
    given(RoomDecider.self, added).with(nobody).when(.members(.add(dave)), by: .user(alice)).thenAlreadyDone(at: 5)
  }
}
